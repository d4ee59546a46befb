# shellcheck shell=bash disable=SC2034
# What tools/test, tools/demo and tools/bench share: the source tree, Debian's packages, one build.
# Sourced, never run.

RNN_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# libzip and libsndfile are found with pkg-config: libzip's CMake files ask for three programs that
# Debian puts into packages of their own.
RNN_BUILD_PACKAGES=(
  llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools clang-22 lld-22 liblld-22-dev libclang-rt-22-dev
  cmake ninja-build ccache g++ pkg-config
  libfmt-dev libcli11-dev nlohmann-json3-dev libzip-dev libsndfile1-dev libtbb-dev
)
RNN_TEST_PACKAGES=(
  clang-format-22 python3 python3-venv python3-psutil
  libmpfr-dev libgtest-dev libgmock-dev googletest librapidcheck-dev
)
# Recordings of music at 8 kHz; an English text, with the program that prints it.
RNN_DEMO_PACKAGES=(asterisk-moh-opsound-wav bible-kjv)

rnn_say() { printf '%s: %s\n' "${0##*/}" "$*"; }

# Ends the script: text, status (3: something that this machine lacks).
rnn_fail() {
  RNN_SAID_WHY=1
  printf '%s: error: %s\n' "${0##*/}" "$1" >&2
  exit "${2:-1}"
}

# A command that fails ends a script (set -e), and the last line has to say so. Status 2 is usage.
rnn_at_exit() {
  local status=$?
  ((status == 0 || status == 2 || ${RNN_SAID_WHY:-0})) ||
    printf '%s: error: ended by a command with exit status %d\n' "${0##*/}" "$status" >&2
}
trap rnn_at_exit EXIT

rnn_is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null) == ?i* ]]
}

rnn_has_candidate() {
  [[ $(apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [^\(] ]]
}

# rnn_require_packages PACKAGE...: installs what is missing. Asks dpkg alone when nothing is.
rnn_require_packages() {
  local package missing=() as_root=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    rnn_fail "this script installs packages on Debian 12; elsewhere install what corresponds to \
'$*' and run cmake --preset default" 3
  fi
  for package in "$@"; do
    rnn_is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null ||
      rnn_fail "these packages are missing: ${missing[*]}; run 'apt-get install ${missing[*]}' as root" 3
    as_root=(sudo)
  fi
  rnn_say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq ||
    rnn_say "apt-get update failed; going on with the package lists that are there"
  for package in "${missing[@]}"; do
    rnn_has_candidate "$package" && continue
    case $package in
    *-22 | *-22-*)
      rnn_fail "$package has no installation candidate. Debian 12 carries LLVM 22 in the \
bookworm-security suite only: add a line such as 'deb http://deb.debian.org/debian-security \
bookworm-security main' to /etc/apt/sources.list and run this again" 3
      ;;
    *) rnn_fail "$package has no installation candidate; the packages are those of Debian 12's main suite" 3 ;;
    esac
  done
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends "${missing[@]}" ||
    rnn_fail "apt-get could not install ${missing[*]}" 3
}

# rnn_build PRESET [TARGET...]: configures and builds one of CMakePresets.json's presets.
rnn_build() {
  local preset=$1 log
  shift
  # Paths in the cache's keys relative to the tree: another clone of the same sources hits it too.
  export CCACHE_BASEDIR=$RNN_ROOT CCACHE_NOHASHDIR=1
  log=$RNN_ROOT/build/configure-$preset.log
  mkdir -p "$RNN_ROOT/build"
  rnn_say "building preset $preset"
  (cd "$RNN_ROOT" && cmake --preset "$preset") >"$log" 2>&1 || {
    cat "$log" >&2
    rnn_fail "cmake could not configure preset $preset"
  }
  (cd "$RNN_ROOT" && cmake --build --preset "$preset" ${1:+--target "$@"}) ||
    rnn_fail "preset $preset does not build"
}

# rnn_provide_nvrtc: CUDA's compiler for the tests, which need no GPU. Where the machine has none that
# rnnc finds, build/venv gets NVIDIA's wheel; where that cannot be had, the tests say so and are
# skipped. Call it when the default preset is built.
rnn_provide_nvrtc() {
  local venv=$RNN_ROOT/build/venv
  ! rnn_has_nvrtc || return 0
  rnn_say "installing NVRTC into build/venv"
  # Debian's own pip refuses to install outside a virtual environment.
  if /usr/bin/python3 -m venv "$venv" &&
    "$venv/bin/pip" install --quiet --disable-pip-version-check 'nvidia-cuda-nvrtc==13.0.*' &&
    rnn_has_nvrtc; then
    return 0
  fi
  rnn_say "NVRTC could not be installed; the tests that need it are skipped"
}

rnn_has_nvrtc() {
  "$RNN_ROOT/build/bin/rnnc" doctor --json |
    /usr/bin/python3 -c 'import json, sys; sys.exit(not json.load(sys.stdin)["cuda"]["nvrtc"]["found"])'
}
