//===- TestConvolution.h - convolutions of odd sizes and their definition, for tests ----------===//
#ifndef CONQUER_OPT_EVALUATOR_TESTCONVOLUTION_H
#define CONQUER_OPT_EVALUATOR_TESTCONVOLUTION_H

#include "conquer-opt/Evaluator/TestGraph.h"
#include "hardware/Profile.h"

#include <algorithm>

namespace conquer {

using Attributes = std::map<std::string, NodeAttribute>;

/// One convolution of odd sizes; weights [OC][KH][KW][IC], depthwise [KH][KW][C][M].
struct Case {
  Shape in, weights;
  Shape pad, stride, dilation;
  bool depthwise = false;
  int64_t outC() const { return depthwise ? weights[2] * weights[3] : weights[0]; }
  int64_t kernel(int axis) const { return weights[depthwise ? axis : axis + 1]; }
  int64_t size(int axis) const {
    return (in[axis + 1] + pad[2 * axis] + pad[2 * axis + 1] - (kernel(axis) - 1) * dilation[axis] -
            1) /
               stride[axis] +
           1;
  }
  Shape out() const { return {in[0], size(0), size(1), outC()}; }
  Attributes attributes() const {
    return {{"pad", pad}, {"stride", stride}, {"dilation", dilation}};
  }
};

inline std::vector<Case> cases() {
  Shape one = {1, 1};
  return {
      {{1, 5, 7, 3}, {4, 3, 3, 3}, {1, 1, 1, 1}, one, one},
      {{2, 6, 5, 5}, {17, 3, 2, 5}, {0, 1, 2, 0}, {2, 1}, {1, 2}},
      {{1, 1, 1, 64}, {10, 1, 1, 64}, {0, 0, 0, 0}, one, one},
      {{1, 9, 9, 16}, {33, 1, 1, 16}, {0, 0, 0, 0}, {2, 2}, one},
      {{1, 7, 5, 6}, {3, 3, 6, 1}, {1, 1, 1, 1}, one, one, true},
      {{1, 8, 9, 3}, {5, 3, 3, 2}, {2, 2, 0, 1}, {2, 3}, one, true},
  };
}

/// Accumulators by the definition, in 64 bits or double.
template <typename In, typename W, typename Acc>
std::vector<Acc> reference(const Case &c, const std::vector<In> &in, const std::vector<W> &weights,
                           const std::vector<Acc> &bias, Acc inputZp, Acc weightZp) {
  std::vector<Acc> out;
  int64_t inC = c.in[3], multiplier = c.depthwise ? c.weights[3] : 1;
  for (int64_t n = 0; n < c.in[0]; ++n)
    for (int64_t y = 0; y < c.size(0); ++y)
      for (int64_t x = 0; x < c.size(1); ++x)
        for (int64_t o = 0; o < c.outC(); ++o) {
          Acc acc = 0;
          for (int64_t ky = 0; ky < c.kernel(0); ++ky)
            for (int64_t kx = 0; kx < c.kernel(1); ++kx)
              for (int64_t i = 0; i < (c.depthwise ? 1 : inC); ++i) {
                int64_t iy = y * c.stride[0] - c.pad[0] + ky * c.dilation[0];
                int64_t ix = x * c.stride[1] - c.pad[2] + kx * c.dilation[1];
                if (iy < 0 || iy >= c.in[1] || ix < 0 || ix >= c.in[2])
                  continue;
                int64_t channel = c.depthwise ? o / multiplier : i;
                int64_t tap = ky * c.kernel(1) + kx;
                int64_t w = c.depthwise ? tap * c.outC() + o
                                        : (o * c.kernel(0) * c.kernel(1) + tap) * inC + i;
                acc += (Acc(in[((n * c.in[1] + iy) * c.in[2] + ix) * inC + channel]) - inputZp) *
                       (Acc(weights[w]) - weightZp);
              }
          out.push_back(acc + bias[bias.size() == 1 ? 0 : o]);
        }
  return out;
}

inline int64_t count(const Shape &shape) {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

inline std::string tosaName(const Case &c) {
  return c.depthwise ? "tosa.depthwise_conv2d" : "tosa.conv2d";
}

/// The kernel levels that this CPU runs.
inline std::vector<const cq_level *> levels() {
  std::vector<std::string> features = hostFeatures();
  std::vector<const cq_level *> list;
  for (const cq_level *const *level = cq_levels(); *level; ++level) {
    bool has = true;
    for (const char *const *feature = (*level)->features; *feature; ++feature)
      has = has && std::count(features.begin(), features.end(), *feature);
    if (has)
      list.push_back(*level);
  }
  return list;
}

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_TESTCONVOLUTION_H
