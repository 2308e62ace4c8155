# What the report embeds: plotly_js() and the assets of its pages.

# Plotly.js; empty when TBD_PLOTLY_JS names no file.
set(plotly ${TBD_PLOTLY_JS})
if(NOT TBD_PLOTLY_JS)
  set(plotly none)
  message(STATUS "tbd: no TBD_PLOTLY_JS; reports will hold tables and no charts")
elseif(NOT EXISTS ${TBD_PLOTLY_JS})
  message(FATAL_ERROR "tbd: TBD_PLOTLY_JS names ${TBD_PLOTLY_JS}, which does not exist")
endif()
tbd_embed(plotly report/plotly.h plotly_js ${plotly})

set(assets ${PROJECT_SOURCE_DIR}/src/report/assets)
tbd_embed(report_assets report/assets.h
          report_style ${assets}/report.css
          trace_style ${assets}/trace.css
          report_script ${assets}/report.js)
