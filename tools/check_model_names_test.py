#!/usr/bin/env python3
"""Tests of check_model_names.py."""
import tempfile
import unittest
from pathlib import Path

import check_model_names


class ModelNames(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.write("src/models/alpha.cc", 'Model alpha() { return {.name = "alpha"}; }')
        self.write("src/models/model.cc", "")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    def found(self):
        return list(check_model_names.faults(self.root))

    def test_a_comparison_is_found(self):
        self.write("src/runner/a.cc", 'bool plays(const Program& p) { return p.model == "alpha"; }')
        self.assertEqual(len(self.found()), 1)
        self.assertIn("src/runner/a.cc:1: 'alpha'", self.found()[0])

    def test_tests_samples_and_longer_texts_are_let_through(self):
        self.write("src/runner/a_test.cc", 'run("alpha");')
        self.write("src/runner/sample_runs.h", 'run("alpha");')
        self.write("src/runner/b.cc", 'say("alpha and beta");  // as in "alpha"')
        self.assertEqual(self.found(), [])

    def test_every_table_that_is_let_through_is_there(self):
        root = Path(__file__).resolve().parent.parent
        for name in check_model_names.TABLES:
            self.assertTrue((root / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()
