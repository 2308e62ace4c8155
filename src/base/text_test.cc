#include "base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>
#include <utility>

#include "base/shape.h"

namespace tbd {
namespace {

enum Unscoped { kThird = 3 };

struct Celsius {
  double degrees;
};
std::ostream& operator<<(std::ostream& out, const Celsius& value) { return out << value.degrees << " °C"; }

template <class... Values>
std::string streamed(const Values&... values) {
  std::ostringstream out;
  (out << ... << values);
  return out.str();
}

template <class... Values>
void expect_as_streamed(const Values&... values) {
  EXPECT_EQ((std::vector{cat(values)...}), (std::vector{streamed(values)...}));
  EXPECT_EQ(cat(values...), streamed(values...));
}

template <class T>
void expect_limits_as_streamed() {
  expect_as_streamed(std::numeric_limits<T>::lowest(), T{0}, T{1}, T{65}, std::numeric_limits<T>::max());
}

TEST(Cat, WritesTextAsStreamsDo) {
  char buffer[] = "array";
  const char* pointer = "pointer";
  char* const changeable = buffer;
  expect_as_streamed("literal", "", buffer, pointer, changeable, std::string("string"), std::string_view("view"),
                     std::string("a\0b", 3), 'c', static_cast<signed char>('s'), static_cast<unsigned char>('u'));
}

TEST(Cat, WritesIntegersAsStreamsDo) {
  expect_as_streamed(true, false);
  expect_limits_as_streamed<short>();
  expect_limits_as_streamed<unsigned short>();
  expect_limits_as_streamed<int>();
  expect_limits_as_streamed<unsigned>();
  expect_limits_as_streamed<long>();
  expect_limits_as_streamed<unsigned long>();
  expect_limits_as_streamed<long long>();
  expect_limits_as_streamed<unsigned long long>();
  expect_limits_as_streamed<int8_t>();
  expect_limits_as_streamed<uint8_t>();
}

TEST(Cat, WritesRealsAsStreamsDo) {
  for (const double x : {0.0,      -0.0, 1.0,     0.1,      -2.5,       100000.0,  999999.5,    1e6,    123456.5,
                         1234567., 1e15, 1e-4,    0.00001,  1.23456789, 1e300,     -1e-300,     5e-324, 2.0 / 3,
                         1e5 / 3,  1e21, 1.5e100, 9.999995, 0.30000001, 1048576.0, 4294967296.0})
    expect_as_streamed(x, static_cast<float>(x), static_cast<long double>(x));
  const double infinity = std::numeric_limits<double>::infinity();
  expect_as_streamed(infinity, -infinity, std::nan(""), std::copysign(std::nan(""), -1.0));
  expect_limits_as_streamed<double>();
  expect_limits_as_streamed<float>();
  double x = 1e-320;
  for (int i = 0; i < 3000; ++i, x *= 1.6180339887) expect_as_streamed(x, -x);
}

TEST(Cat, WritesAnythingElseWithItsOwnOperator) {
  const std::vector<bool> bits = {true, false};
  expect_as_streamed(std::filesystem::path("a \"b\"/c d"), Shape{2, 3}, Celsius{36.6}, kThird, bits[0]);
  expect_as_streamed(std::make_error_code(std::errc::io_error), static_cast<const void*>(&bits));
}

TEST(Cat, IsEmptyWithoutArguments) { EXPECT_EQ(cat(), ""); }

}  // namespace
}  // namespace tbd
