// What rank 0 and a seat say to each other: a greeting in lines, then a request to start a worker or to end, then
// frames of that worker.
#pragma once
#include <string>
#include <string_view>

namespace tbd {

inline constexpr std::string_view kSeatGreeting = "tbd-runner 1";

std::string seat_nonce();  // that nobody can foresee
// That only who has the token can make.
std::string seat_proof(const std::string& token, const std::string& of);

// Kinds of frames. The first asks for a worker ("0,1 LINE": processors, none for all, and what the shell runs) or says
// the exit code. To a worker: a line of its input, the end of that. From it: a line of its output, its end, bytes of
// its log; last, how it ended: "code 3", "signal 9".
inline constexpr char kStart = 's', kEnd = 'e';
inline constexpr char kInput = 'i', kInputEnd = 'I', kOutput = 'o', kOutputEnd = 'O', kLog = 'l', kExit = 'x';

}  // namespace tbd
