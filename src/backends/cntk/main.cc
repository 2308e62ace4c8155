#include "worker/session.h"
#include "worker/worker_main.h"

int main() { return tbd::worker_main(tbd::make_session); }
