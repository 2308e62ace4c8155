// The request of records that hold none.
#pragma once
#include "record/workload.h"

namespace tbd {

// Such records keep the folder of the data, the framework's build, the mode that was asked for and a program's file in
// their command line alone, as repro_line wrote it; a line of another form tells nothing.
Workload request_of_old_record(const MeasuredWorkload& workload);

}  // namespace tbd
