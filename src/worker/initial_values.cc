#include "worker/initial_values.h"

#include <algorithm>
#include <thread>

#include "base/philox.h"
#include "base/text.h"

namespace tbd {
namespace {

double drawn(const Init& init, const Philox& random) {
  switch (init.kind) {
    case Init::Kind::zeros:
      return 0;
    case Init::Kind::ones:
      return 1;
    case Init::Kind::constant:
      return init.a;
    case Init::Kind::normal:
      return init.a * random.normal(0);
    case Init::Kind::uniform:
      return init.a * (2 * random.uniform(0) - 1);
    case Init::Kind::truncated_normal:
      return random.truncated_normal(0, init.a, init.low, init.high);
  }
  return 0;
}

template <class T>
void fill(std::span<T> values, size_t begin, size_t end, const Init& init, const Philox& stream) {
  for (size_t i = begin; i < end; ++i) values[i] = static_cast<T>(drawn(init, stream.at(0, static_cast<uint32_t>(i))));
}

// Calls work(begin, end) for parts of [0, size), each in a thread of its own where that pays.
template <class Work>
void in_parts(size_t size, int64_t threads, const Work& work) {
  const size_t parts = std::clamp<size_t>(size / 65536, 1, static_cast<size_t>(std::max<int64_t>(threads, 1)));
  std::vector<std::jthread> helpers;
  for (size_t part = 1; part < parts; ++part)
    helpers.emplace_back([&, part] { work(size * part / parts, size * (part + 1) / parts); });
  work(0, size / parts);
}

template <class T>
void clear_row(std::span<T> values, const Shape& shape, int64_t row) {
  const int64_t width = shape.elements() / shape[0];
  std::ranges::fill(values.subspan(static_cast<size_t>(row * width), static_cast<size_t>(width)), T{});
}

}  // namespace

HostTensor initial_value(const Parameter& parameter, uint64_t seed, int64_t threads) {
  const bool is_double = parameter.dtype == DType::f64;
  HostTensor tensor(is_double ? DType::f64 : DType::f32, parameter.shape);
  const Philox stream(seed, parameter.name);
  const auto size = static_cast<size_t>(parameter.shape.elements());
  in_parts(size, threads, [&](size_t begin, size_t end) {
    if (is_double) return fill(tensor.as<double>(), begin, end, parameter.init, stream);
    fill(tensor.as<float>(), begin, end, parameter.init, stream);
  });
  if (const int64_t row = parameter.init.zero_row; row >= 0) {
    require(parameter.shape.rank() > 0 && row < parameter.shape[0], "parameter '", parameter.name, "' ",
            parameter.shape, " has no row ", row, " to start as 0");
    if (is_double)
      clear_row(tensor.as<double>(), parameter.shape, row);
    else
      clear_row(tensor.as<float>(), parameter.shape, row);
  }
  const bool stored = parameter.dtype == DType::f64 || parameter.dtype == DType::f32;
  return stored ? std::move(tensor) : converted(tensor, parameter.dtype);
}

int64_t write_initial_values(Session& session, const Program& program, uint64_t seed, int64_t threads) {
  int64_t elements = 0;
  for (const Parameter& parameter : program.parameters) {
    session.write({{cat("param/", parameter.name), initial_value(parameter, seed, threads)}});
    elements += parameter.shape.elements();
  }
  for (const Parameter& buffer : program.buffers)
    session.write({{cat("buffer/", buffer.name), initial_value(buffer, seed, threads)}});
  return elements;
}

}  // namespace tbd
