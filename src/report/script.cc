#include "report/assets.h"

namespace tbd {

std::string_view report_script() {
  return R"js(
(function () {
  'use strict';
  const charts = JSON.parse(document.getElementById('tbd-data').textContent);
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // Plotly reads a few tags in its labels; names from records are text.
  const plain = text => String(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  const narrow = () => innerWidth < 600;
  // Words in lines of at most `width` characters; a longer word is cut into several.
  function wrapped(text, width) {
    const lines = [''];
    for (const word of String(text).split(/\s+/).flatMap(w => w.match(new RegExp('.{1,' + width + '}', 'gu')) || [])) {
      const line = lines[lines.length - 1];
      if (line && line.length + word.length >= width) lines.push(word);
      else lines[lines.length - 1] = line ? line + ' ' + word : word;
    }
    return lines.map(plain).join('<br>');
  }
  const category = label => wrapped(label, narrow() ? 16 : 32);
  const roles = { resident: 0, pipeline: 1 };
  const color = (series, index) => series.role === 'roof' ? css('--soft') :
    css('--c' + (series.role in roles ? roles[series.role] : index % 10));

  function intervals(series) {
    if (!series.high) return undefined;
    const known = i => series.y[i] !== null && series.low[i] !== null && series.high[i] !== null;
    return {
      type: 'data', symmetric: false, thickness: 1.5, width: 5, color: css('--ink'),
      array: series.y.map((y, i) => known(i) ? series.high[i] - y : 0),
      arrayminus: series.y.map((y, i) => known(i) ? y - series.low[i] : 0),
    };
  }

  const barred = chart => chart.mark === 'bars' || chart.mark === 'stacks';

  function bars(series, index) {
    return {
      type: 'bar', orientation: 'h', name: plain(series.name), x: series.y, y: series.labels.map(category),
      text: (series.text || []).map(plain), textposition: 'inside', insidetextanchor: 'start',
      insidetextfont: { color: css('--paper') }, cliponaxis: false,
      marker: { color: color(series, index) }, error_x: intervals(series), hoverinfo: 'x+y+name',
    };
  }

  // What a series itself asks for goes before what its chart does: roofs are lines among points.
  function curve(chart, series, index) {
    const points = chart.mark === 'points' && series.role !== 'roof';
    return {
      type: 'scatter', mode: points ? 'markers' : 'lines', name: plain(series.name), x: series.x, y: series.y,
      marker: { color: color(series, index), size: 5, opacity: .75 },
      line: { color: color(series, index), width: chart.mark === 'areas' ? .5 : 1.6 },
      stackgroup: chart.mark === 'areas' ? 'all' : undefined, text: (series.text || []).map(plain),
      hoverinfo: series.text ? 'x+y+text' : 'x+y+name',
    };
  }

  function shapes(chart) {
    const bands = chart.bands.map(band => ({
      type: 'rect', xref: 'x', yref: 'paper', x0: band.begin, x1: band.end, y0: 0, y1: 1, layer: 'below',
      fillcolor: css('--band'), line: { width: 0 },
      label: { text: plain(band.label), textposition: 'top left', font: { color: css('--soft'), size: 12 } },
    }));
    if (chart.level) bands.push({
      type: 'line', xref: 'paper', yref: 'y', x0: 0, x1: 1, y0: chart.level, y1: chart.level,
      line: { color: css('--soft'), width: 1, dash: 'dot' },
    });
    return bands;
  }

  function layout(chart) {
    const axis = title => ({
      title: { text: plain(title), font: { size: 12 }, standoff: 8 }, gridcolor: css('--line'), zerolinecolor: css('--line'),
      linecolor: css('--line'), tickfont: { size: 12 }, automargin: true, rangemode: 'normal',
    });
    const x = axis(chart.x_title), y = axis(chart.y_title);
    const common = {
      paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', font: { family: 'system-ui, sans-serif', color: css('--soft') },
      margin: { l: 56, r: 12, t: narrow() ? 12 : 34, b: 44 }, showlegend: chart.series.length > 1, hovermode: 'closest',
      modebar: { bgcolor: 'rgba(0,0,0,0)', color: css('--soft'), activecolor: css('--accent') },
      legend: { orientation: 'h', y: 1.02, yanchor: 'bottom', x: 0, font: { size: 12 } }, shapes: shapes(chart),
    };
    if (!barred(chart)) {
      if (chart.from_zero) y.rangemode = 'tozero';
      if (chart.logarithmic) x.type = y.type = 'log';
      return Object.assign(common, { xaxis: x, yaxis: y });
    }
    const value = Object.assign(axis(chart.y_title), { rangemode: 'tozero' });
    const names = Object.assign(axis(''), {
      type: 'category', categoryorder: 'array', categoryarray: chart.order.map(category), autorange: 'reversed',
      gridcolor: 'rgba(0,0,0,0)', ticksuffix: ' ',
    });
    return Object.assign(common, { xaxis: value, yaxis: names, barmode: chart.mark === 'stacks' ? 'stack' : 'overlay', bargap: .35 });
  }

  const rows = chart => chart.mark === 'stacks' ? chart.order.length :
    chart.series.reduce((n, series) => n + series.labels.length, 0);
  const height = chart => barred(chart) ? 130 + 44 * rows(chart) + (chart.mark === 'stacks' ? 20 : 0) : 320;

  function draw() {
    for (const chart of charts) {
      const place = document.getElementById(chart.id);
      place.style.height = height(chart) + 'px';
      const traces = chart.series.map((series, i) => barred(chart) ? bars(series, i) : curve(chart, series, i));
      Plotly.react(place, traces, layout(chart), {
        responsive: true, displaylogo: false, displayModeBar: narrow() ? false : 'hover', modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d'],
        toImageButtonOptions: { format: 'svg', filename: chart.id },
      });
    }
  }

  function download(chart) {
    const url = URL.createObjectURL(new Blob([chart.csv], { type: 'text/csv' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = chart.id + '.csv';
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  for (const button of document.querySelectorAll('button.csv'))
    button.addEventListener('click', () => download(charts.find(chart => chart.id === button.dataset.chart)));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  draw();
})();
)js";
}

}  // namespace tbd
