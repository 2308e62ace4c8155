#!/usr/bin/env python3
"""check_statements finds joined statements wherever one may stand, and lets every other comma pass."""
import unittest

from check_statements import faults_of


def lines(text):
    return [line for line, _ in faults_of(text)]


class CheckStatements(unittest.TestCase):
    def test_joined_statements_are_found(self):
        for statement in [
            "a = 1, b = 2;",
            "++a, b += 2;",
            "f(a, b), g(c);",
            "*out = 1, ++out;",
            "if (a) b = 1, c = 2;",
            "if (a) b(); else c = 1, d = 2;",
            "for (int i = 0, j = 1; i < j; ++i, --j) a += i, b += j;",
            "while (a < b) a *= 2, ++n;",
            "return f(a), true;",
            "case kOne: a = 1, b = 2;",
            "x.y = {1, 2}, z = 3;",
            "const auto f = [&] { a(), b(); };",
            "g(h, [&](int a, int b) { c += a, d += b; });",
        ]:
            self.assertEqual(lines("void f() {\n" + statement + "\n}\n"), [2], statement)

    def test_functions_in_a_class_are_read_too(self):
        self.assertEqual(lines("class A {\n public:\n  void clear() { a_ = 1, b_ = 2; }\n};\n"), [3])

    def test_other_commas_pass(self):
        for text in [
            "int a = 1, b = 2;",
            "double a, b;",
            "const std::vector<int> &a = x, &b = y;",
            "std::optional<double> low, high;",
            "const auto a = f(x), b = f(y);",
            "const StepRow &first = rows.front(), &last = rows.back();",
            "std::map<std::string, std::vector<int>> by_name;",
            "std::array<double, 2 * kReach + 1> window;",
            "for (int i = 0, j = 1; i < j; ++i, --j) a += i;",
            "f(a, b);",
            "return g({1, 2}, [&](int a, int b) { return a + b; });",
            "return Pair{a, b};",
            "x = {1, 2, 3};",
            "const auto [a, b] = f();",
            "enum class Color { red, green };",
            "static_assert(std::is_same_v<A, B>, \"why\");",
            "using Key = std::pair<A, B>;",
            "// a = 1, b = 2;\n",
            "text = \"a = 1, b = 2;\";",
            "auto f = [a, b](int c, int d) -> std::pair<int, int> { return {c, d}; };",
        ]:
            self.assertEqual(lines("void f() {\n" + text + "\n}\n"), [], text)

    def test_lists_outside_of_functions_pass(self):
        for text in [
            "constexpr Row kRows[] = {\n    {1, 2},\n    {3, 4},\n};\n",
            "struct A : B, C {\n  int a = 1, b = 2;\n  double c, d;\n};\n",
            "A::A(int a, int b) : a_(a), b_{b} {}\n",
            "template <class A, class B>\nvoid f(A a, B b);\n",
            "#define PAIR(a, b) a, b;\n",
            "constexpr const char* kText = R\"(a = 1, b = 2;)\";\n",
        ]:
            self.assertEqual(lines(text), [], text)


if __name__ == "__main__":
    unittest.main()
