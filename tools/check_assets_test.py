#!/usr/bin/env python3
"""Each rule of check_assets catches its fault, and lets the allowed neighbour pass."""
import unittest

from check_assets import script_faults, string_faults, style_faults, undefined_names


class CheckAssets(unittest.TestCase):
    def test_scripts_are_strict_and_compare_without_conversion(self):
        good = "(function () {\n  'use strict';\n  const same = a === b && c !== d && e => f <= g;  // a == b\n})();\n"
        self.assertEqual(list(script_faults(good)), [])
        for line in ["var a = 1;", "if (a == b) c();", "if (a != b) c();", "eval(text);", "place.innerHTML = text;"]:
            self.assertEqual([n for n, _ in script_faults("'use strict';\n" + line)], [2], line)
        self.assertEqual(len(list(script_faults("const a = 1;"))), 1)

    def test_style_rules_are_of_classes_that_something_has(self):
        self.assertEqual(list(style_faults(".card h3 { margin: .5em; }\n", '"<div class=\\"card\\">"')), [])
        self.assertEqual([n for n, _ in style_faults("p { margin: 0; }\n.cards { margin: 0; }\n", "card")], [2])
        self.assertEqual(len(list(style_faults("p { margin: 0;\n", ""))), 1)

    def test_names_of_colours_are_defined(self):
        self.assertEqual(undefined_names([":root { --ink: #000; }", "p { color: var(--ink); }"]), [])
        self.assertEqual(undefined_names([":root { --ink: #000; }", "p { color: var(--inc); }"]), ["--inc"])

    def test_strings_hold_no_code(self):
        for text in ['return R"js(', 'html += "<script>draw()";', 'cat("<a onclick=\\"x()\\">")', '"td { margin: 0; }"']:
            self.assertEqual(len(list(string_faults(text))), 1, text)
        for text in ['"</script>\\n<script>"', '"<script type=\\"application/json\\" id=\\"data\\">"', 'cat("style=\\"flex:", n)']:
            self.assertEqual(list(string_faults(text)), [], text)


if __name__ == "__main__":
    unittest.main()
