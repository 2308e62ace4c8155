#!/usr/bin/env python3
"""What check_headers counts: who sees a header, through others too, and what it says when a figure is passed."""
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check_headers


class CheckHeaders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name) / "src"
        self.source.mkdir()
        for name, text in {"a.h": "#include <heavy.hpp>\n", "b.h": '#include "a.h"\n#include "b.h"\n',
                           "direct.cc": "#include <heavy.hpp>\n", "through.cc": '#include "b.h"\n',
                           "none.cc": "// #include <heavy.hpp> is not here\n", "some_test.cc": '  #  include "a.h"\n'}.items():
            (self.source / name).write_text(text)
        patches = [mock.patch.object(check_headers, "ROOT", Path(folder.name)),
                   mock.patch.object(check_headers, "THOUSAND_LINES", {})]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        check_headers.includes.cache_clear()
        self.addCleanup(check_headers.includes.cache_clear)

    def faults(self, **figures):
        for name, value in figures.items():
            patch = mock.patch.object(check_headers, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        return list(check_headers.faults("g++"))

    def test_files_and_tests_are_counted_through_headers(self):
        with mock.patch.object(check_headers, "SEEN_BY", {"heavy.hpp": (9, 9)}):
            self.assertEqual(check_headers.count_users(), {"heavy.hpp": [2, 1]})

    def test_one_file_more_is_a_fault(self):
        self.assertEqual(self.faults(SEEN_BY={"heavy.hpp": (2, 1)}), [])
        self.assertEqual(len(self.faults(SEEN_BY={"heavy.hpp": (1, 1)})), 1)
        self.assertEqual(len(self.faults(SEEN_BY={"heavy.hpp": (2, 0)})), 1)

    def test_a_header_that_grows_is_a_fault(self):
        (self.source / "long.h").write_text("int x;\n" * 1500)
        self.assertEqual(self.faults(SEEN_BY={}, THOUSAND_LINES={"long.h": 2}), [])
        fault, = self.faults(SEEN_BY={}, THOUSAND_LINES={"long.h": 1})
        self.assertIn("src/long.h: 1,500 lines", fault)


if __name__ == "__main__":
    unittest.main()
