#include "worker/session.h"
int main() { return tbd::make_session() ? 0 : 1; }
