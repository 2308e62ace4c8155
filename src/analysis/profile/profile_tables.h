// A profile as tables, and as one object with the same numbers.
#pragma once
#include "analysis/profile/profile.h"
#include "analysis/table.h"

namespace tbd {

Table utilization_table(const Profile& profile, const Roofs& roofs);
Table loss_table(const Profile& profile);
// Until 90 % of the time is listed, at least 5 and at most 40 rows.
Table profile_op_table(const Profile& profile, const RunInfo& run);
// Of a GPU: by name, as far as the table of ops goes.
Table profile_kernel_table(const Profile& profile, const RunInfo& run);
// The five ops, or kernels of a GPU, of the longest total time whose utilization is below the mean over all (Zhu et al.
// 2018, tables 5 and 6), and the twin: the five at or above it.
Table long_below_average_table(const Profile& profile);
Table long_above_average_table(const Profile& profile);
Table exchange_table(const ExchangeProfile& profile);
// Time by node, forward and backward, longest first.
Table overhead_table(const Profile& profile);
std::vector<Table> profile_tables(const Profile& profile, const RunInfo& run);
Json to_json(const Profile& profile, const RunInfo& run);  // times in integer ns

}  // namespace tbd
