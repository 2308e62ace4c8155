#!/usr/bin/env python3
"""Each rule of check_layers catches its fault, and lets the allowed neighbour pass."""
import unittest

from check_layers import faults_of


def faults(path, *lines):
    return [fault for _, fault in faults_of(path, "\n".join(lines))]


class CheckLayers(unittest.TestCase):
    def test_a_lower_room_may_not_include_a_higher_one(self):
        self.assertEqual(len(faults("graph/op.cc", '#include "models/model.h"')), 1)
        self.assertEqual(faults("models/resnet.cc", '#include "graph/op.h"', '#include "models/model.h"'), [])

    def test_report_knows_no_graph(self):
        self.assertEqual(len(faults("report/page.cc", '#include "graph/op.h"')), 1)

    def test_the_runner_sees_the_protocol_alone(self):
        self.assertEqual(faults("runner/launch.cc", '#include "worker/protocol.h"'), [])
        self.assertEqual(len(faults("runner/launch.cc", '#include "worker/session.h"')), 1)

    def test_framework_headers_stay_in_their_back_end(self):
        self.assertEqual(len(faults("worker/main.cc", "#include <ATen/ATen.h>")), 1)
        self.assertEqual(len(faults("backends/mxnet/op.cc", "#include <torch/torch.h>")), 1)
        self.assertEqual(faults("backends/pytorch/op.cc", "#include <ATen/ops/add.h>"), [])

    def test_back_ends_are_strangers(self):
        self.assertEqual(len(faults("backends/mxnet/op.cc", '#include "backends/pytorch/op.h"')), 1)

    def test_a_back_ends_test_may_use_models_its_code_not(self):
        self.assertEqual(faults("backends/pytorch/op_test.cc", '#include "models/model.h"'), [])
        self.assertEqual(len(faults("backends/pytorch/op.cc", '#include "models/model.h"')), 1)

    def test_only_the_edge_prints_exits_or_reads_the_environment(self):
        for line in ["std::cout << 1;", "std::exit(1);", 'getenv("HOME");', "::exit(2);", 'const char* home = std::getenv("X");']:
            self.assertEqual(len(faults("record/reader.cc", line)), 1, line)
            self.assertEqual(faults("cli/main.cc", line), [], line)
            self.assertEqual(faults("backends/pytorch/main.cc", line), [], line)

    def test_words_that_only_look_alike_pass(self):
        for line in ["// it prints to std::cout", 'throw Error("std::cout");', "process.exit(1);", "on_exit(f);", "_exit(1);", "Session::exit();"]:
            self.assertEqual(faults("record/reader.cc", line), [], line)

    def test_a_reasoned_exception_passes(self):
        self.assertEqual(faults("base/subprocess.cc", "::exit(1);  // edge: the child has no parent"), [])

    def test_an_unknown_room_is_a_fault(self):
        self.assertEqual(len(faults("utils/misc.h", "")), 1)


if __name__ == "__main__":
    unittest.main()
