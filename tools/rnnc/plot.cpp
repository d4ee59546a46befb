#include "memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

constexpr double kWidth = 640, kHeight = 400, kLeft = 70, kRight = 20, kTop = 40, kBottom = 50;

/// Bytes on a logarithmic axis, powers of 1024 cut in halves by their logarithm; time on a linear
/// one from 0.
class Axes {
public:
  Axes(double least, double most, double time)
      : low(std::floor(std::log2(least))), high(std::max(low + 1, std::ceil(std::log2(most)))),
        time(time) {}
  double x(double bytes) const {
    return kLeft + (std::log2(bytes) - low) / (high - low) * (kWidth - kLeft - kRight);
  }
  double y(double t) const { return kHeight - kBottom - t / time * (kHeight - kTop - kBottom); }
  std::string grid() const;

private:
  double low, high, time;
};

std::string powerText(int power) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  const int unit = std::min(power / 10, 5);
  return fmt::format("{} {}", int64_t(1) << (power - 10 * unit), units[unit]);
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     text);
}

std::string Axes::grid() const {
  std::string text;
  const int each = std::max(1, static_cast<int>(std::ceil((high - low) / 6)));
  for (int power = static_cast<int>(low); power <= high; power += each) {
    const double at = x(std::exp2(power));
    text += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>\n", at, kTop,
                        kHeight - kBottom);
    text += label(at, kHeight - kBottom + 18, "middle", powerText(power));
  }
  for (int t = 0; t <= time; ++t) {
    text += fmt::format("<line x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>\n", y(t),
                        kLeft, kWidth - kRight);
    text += label(kLeft - 8, y(t) + 4, "end", std::to_string(t));
  }
  return text;
}

} // namespace

std::string rnnc::tool::plotFrontier(const std::string& cell, const MemoryPlan& plan) {
  const double n = static_cast<double>(plan.layers), least = plan.frontier.front().seconds;
  auto bytes = [&](const rnn_training_choice& c) {
    return std::max(1.0, n * static_cast<double>(c.reserve) + static_cast<double>(c.workspace));
  };
  auto time = [&](const rnn_training_choice& c) { return least > 0 ? c.seconds / least : 1; };
  double low = INFINITY, high = 0, slowest = 1;
  for (const rnn_training_choice& c : plan.frontier) {
    low = std::min(low, bytes(c));
    high = std::max(high, bytes(c));
    slowest = std::max(slowest, time(c));
  }
  const Axes axes(low, high, std::ceil(slowest));
  std::string points;
  for (const rnn_training_choice& c : plan.frontier) {
    const bool isChosen =
        std::any_of(plan.chosen.begin(), plan.chosen.end(), [&](const rnn_training_choice& k) {
          return k.training == c.training && k.checkpoint == c.checkpoint && k.window == c.window;
        });
    points += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"><title>{}</title></circle>\n",
        axes.x(bytes(c)), axes.y(time(c)), isChosen ? 6 : 3.5, isChosen ? "#d1495b" : "#30638e",
        choiceText(c));
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n<g stroke=\"#ddd\" fill=\"#333\" "
      "stroke-width=\"1\" style=\"paint-order: stroke\">\n{2}</g>\n{3}{4}{5}{6}</svg>\n",
      kWidth, kHeight, axes.grid(), points,
      label(kLeft, 22, "start", cell + ": what a training step keeps, against its time"),
      label(kWidth / 2, kHeight - 12, "middle", "reserve and workspace"),
      label(kLeft - 50, kTop - 8, "start", "time (L1 = 1)"));
}
