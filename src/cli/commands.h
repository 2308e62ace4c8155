// The sub-commands, one file each.
#pragma once
#include "cli/command.h"

namespace tbd::cli {

std::unique_ptr<Command> make_quickstart();
std::unique_ptr<Command> make_list();
std::unique_ptr<Command> make_describe();
std::unique_ptr<Command> make_run();
std::unique_ptr<Command> make_exec();
std::unique_ptr<Command> make_profile();
std::unique_ptr<Command> make_memory();
std::unique_ptr<Command> make_step();
std::unique_ptr<Command> make_train();
std::unique_ptr<Command> make_evaluate();
std::unique_ptr<Command> make_selfplay();
std::unique_ptr<Command> make_gtp();
std::unique_ptr<Command> make_check();
std::unique_ptr<Command> make_link();
std::unique_ptr<Command> make_predict();
std::unique_ptr<Command> make_report();
std::unique_ptr<Command> make_compare();
std::unique_ptr<Command> make_ab();
std::unique_ptr<Command> make_tune();
std::unique_ptr<Command> make_baseline();
std::unique_ptr<Command> make_history();
std::unique_ptr<Command> make_observe();
std::unique_ptr<Command> make_explain();
std::unique_ptr<Command> make_verify();
std::unique_ptr<Command> make_analyze();
std::unique_ptr<Command> make_import();
std::unique_ptr<Command> make_export();
std::unique_ptr<Command> make_doctor();
std::unique_ptr<Command> make_gpu_peaks();
std::unique_ptr<Command> make_at_seat();
std::unique_ptr<Command> make_data();
std::unique_ptr<Command> make_setup();

}  // namespace tbd::cli
