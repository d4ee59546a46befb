// Every op that has a text, parentheses as few as C++ needs, numbers exactly.
// RUN: rnnc build %s --emit=cuda | FileCheck %s

newton.cell @Ops {
  newton.tensor input @x ["d"] [-1]
  newton.tensor input @y ["d"] [-1]
  newton.tensor state @h ["d"] [-1]
  newton.tensor output @o ["d", "n"] [-1, 38]
  newton.system @Ops_h : f32 lanes ["d"]
    states [#newton.slot<@h, lanes = [0], at = [0], back = 0>]
    inputs [#newton.slot<@x, lanes = [0], at = [0], back = 0>, #newton.slot<@y, lanes = [0], at = [0], back = 0>]
    params []
    outputs [#newton.slot<@o, lanes = [0, -1], at = [0, 0], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 1], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 2], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 3], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 4], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 5], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 6], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 7], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 8], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 9], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 10], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 11], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 12], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 13], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 14], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 15], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 16], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 17], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 18], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 19], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 20], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 21], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 22], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 23], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 24], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 25], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 26], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 27], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 28], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 29], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 30], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 31], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 32], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 33], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 34], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 35], back = 0>,
             #newton.slot<@o, lanes = [0, -1], at = [0, 36], back = 0>, #newton.slot<@o, lanes = [0, -1], at = [0, 37], back = 0>]
    step {
  ^bb0(%h: f32, %x: f32, %y: f32):
    %one = arith.constant 1.0 : f32
    %minus = arith.constant -2.5 : f32
    %zero = arith.constant -0.0 : f32
    %tenth = arith.constant 0.1 : f32
    %small = arith.constant 0x00000001 : f32
    %inf = arith.constant 0xFF800000 : f32
    %nan = arith.constant 0x7FC00000 : f32
    %true = arith.constant true
    // What is long has a name.
    // CHECK: const real v1 = x + -real(0) + real(0x1.99999ap-4) + real(0x0.000002p-126);
    // CHECK: const real v2 = (x > y && ((x == y) || (x != h_prev))) ? real(1) : (x < y) ? x : y;
    // CHECK: next[0] = (h_prev + x) * y;
    %s0 = arith.addf %h, %x : f32
    %next = arith.mulf %s0, %y : f32
    // CHECK: output[0] = h_prev - x - y;
    %s1 = arith.subf %h, %x : f32
    %o0 = arith.subf %s1, %y : f32
    // CHECK: output[1] = h_prev - (x - y);
    %s2 = arith.subf %x, %y : f32
    %o1 = arith.subf %h, %s2 : f32
    // CHECK: output[2] = x / (y * h_prev);
    %s3 = arith.mulf %y, %h : f32
    %o2 = arith.divf %x, %s3 : f32
    // CHECK: output[3] = -(x + y);
    %s4 = arith.addf %x, %y : f32
    %o3 = arith.negf %s4 : f32
    // CHECK: output[4] = x - -y;
    %s5 = arith.negf %y : f32
    %o4 = arith.subf %x, %s5 : f32
    // CHECK: output[5] = -(-real(0x1.4p1));
    %o5 = arith.negf %minus : f32
    // CHECK: output[6] = v1;
    %s6 = arith.addf %x, %zero : f32
    %s7 = arith.addf %s6, %tenth : f32
    %o6 = arith.addf %s7, %small : f32
    // CHECK: output[7] = -math::infinity() * math::nan();
    %o7 = arith.mulf %inf, %nan : f32
    // CHECK: output[8] = v2;
    %c0 = arith.cmpf ogt, %x, %y : f32
    %c1 = arith.cmpf oeq, %x, %y : f32
    %c2 = arith.cmpf une, %x, %h : f32
    %c3 = arith.ori %c1, %c2 : i1
    %c4 = arith.andi %c0, %c3 : i1
    %c5 = arith.cmpf olt, %x, %y : f32
    %s8 = arith.select %c5, %x, %y : f32
    %o8 = arith.select %c4, %one, %s8 : f32
    // CHECK: output[9] = !(x >= y) ? x : h_prev;
    %c6 = arith.cmpf oge, %x, %y : f32
    %c7 = arith.xori %c6, %true : i1
    %o9 = arith.select %c7, %x, %h : f32
    // CHECK: output[10] = ((x <= y) != !(x > h_prev)) ? x : y;
    %c8 = arith.cmpf ole, %x, %y : f32
    %c9 = arith.cmpf ule, %x, %h : f32
    %c10 = arith.xori %c8, %c9 : i1
    %o10 = arith.select %c10, %x, %y : f32
    // CHECK: output[11] = (x < y || x > y) ? real(1) : x;
    %c11 = arith.cmpf one, %x, %y : f32
    %o11 = arith.select %c11, %one, %x : f32
    // CHECK: output[12] = !(x < y || x > y) ? y : x;
    %c12 = arith.cmpf ueq, %x, %y : f32
    %o12 = arith.select %c12, %y, %x : f32
    // CHECK: output[13] = (x != x || y != y) ? h_prev : x;
    %c13 = arith.cmpf uno, %x, %y : f32
    %o13 = arith.select %c13, %h, %x : f32
    // CHECK: output[14] = !(x != x || y != y) ? h_prev : y;
    %c14 = arith.cmpf ord, %x, %y : f32
    %o14 = arith.select %c14, %h, %y : f32
    // CHECK: output[15] = math::abs(x);
    %f0 = math.absf %x : f32
    // CHECK: output[16] = math::acos(x);
    %f1 = math.acos %x : f32
    // CHECK: output[17] = math::asin(x);
    %f2 = math.asin %x : f32
    // CHECK: output[18] = math::atan(x);
    %f3 = math.atan %x : f32
    // CHECK: output[19] = math::atan2(x, y);
    %f4 = math.atan2 %x, %y : f32
    // CHECK: output[20] = math::cos(x);
    %f5 = math.cos %x : f32
    // CHECK: output[21] = math::cosh(x);
    %f6 = math.cosh %x : f32
    // CHECK: output[22] = math::erf(x);
    %f7 = math.erf %x : f32
    // CHECK: output[23] = math::exp(x);
    %f8 = math.exp %x : f32
    // CHECK: output[24] = math::expm1(x);
    %f9 = math.expm1 %x : f32
    // CHECK: output[25] = math::floor(x);
    %f10 = math.floor %x : f32
    // CHECK: output[26] = math::fma(x, y, h_prev);
    %f11 = math.fma %x, %y, %h : f32
    // CHECK: output[27] = math::log(x);
    %f12 = math.log %x : f32
    // CHECK: output[28] = math::log1p(x);
    %f13 = math.log1p %x : f32
    // CHECK: output[29] = math::pow(x, y);
    %f14 = math.powf %x, %y : f32
    // CHECK: output[30] = math::rsqrt(x);
    %f15 = math.rsqrt %x : f32
    // CHECK: output[31] = math::sin(x) + math::sinh(x);
    %f16 = math.sin %x : f32
    %f17 = math.sinh %x : f32
    %f18 = arith.addf %f16, %f17 : f32
    // CHECK: output[32] = math::sqrt(x);
    %f19 = math.sqrt %x : f32
    // CHECK: output[33] = math::tan(x);
    %f20 = math.tan %x : f32
    // CHECK: output[34] = math::tanh(x);
    %f21 = math.tanh %x : f32
    // CHECK: output[35] = math::sigmoid(x);
    %f22 = newton.sigmoid %x : f32
    // CHECK: output[36] = math::sign(x);
    %f23 = newton.sign %x : f32
    // CHECK: output[37] = math::softplus(x);
    %f24 = newton.softplus %x : f32
    newton.yield %next, %o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7, %o8, %o9, %o10, %o11, %o12, %o13, %o14,
      %f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8, %f9, %f10, %f11, %f12, %f13, %f14, %f15, %f18, %f19, %f20, %f21, %f22, %f23, %f24
      : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32,
        f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
  }
}
