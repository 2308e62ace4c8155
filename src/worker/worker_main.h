// The main function of every worker executable: `int main() { return tbd::worker_main(tbd::make_session); }`
#pragma once
#include <memory>

namespace tbd {

class Session;
std::unique_ptr<Session> make_session();  // of the back-end (worker/session.h)

// Turns fd 1 to stderr, so that no chatter of the framework reaches the protocol, which keeps a private copy; ends with
// the parent process; makes the session; serves until `bye` or the end of input.
int worker_main(std::unique_ptr<Session> (*make)());

}  // namespace tbd
