// Draws the charts of the report: the JSON under the id tbd-data says what, Plotly draws, the page's style names colours.
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
  const number_of = (series, index) => 'color' in series ? series.color : series.role in roles ? roles[series.role] : index;
  const color = (series, index) => series.role === 'roof' ? css('--soft') : css('--c' + number_of(series, index) % 10);

  function intervals(series) {
    if (!series.high) return undefined;
    const known = i => series.y[i] !== null && series.low[i] !== null && series.high[i] !== null;
    return {
      type: 'data', symmetric: false, thickness: 1.5, width: 5, color: css('--ink'),
      array: series.y.map((y, i) => known(i) ? series.high[i] - y : 0),
      arrayminus: series.y.map((y, i) => known(i) ? y - series.low[i] : 0),
    };
  }

  const barred = chart => ['bars', 'stacks', 'groups'].includes(chart.mark);

  function bars(series, index) {
    return {
      type: 'bar', orientation: 'h', name: plain(series.name), x: series.y, y: series.labels.map(category),
      text: (series.text || []).map(plain), textposition: 'inside', insidetextanchor: 'start',
      insidetextfont: { color: css('--paper') }, cliponaxis: false,
      marker: { color: color(series, index) }, error_x: intervals(series), hoverinfo: 'x+y+name',
    };
  }

  // Upright stacks, grouped; what is only an outline is a mark at its height.
  function column(series, index) {
    const x = [series.groups.map(group => wrapped(group, 14)), series.labels.map(plain)];
    if (series.role === 'outline') return {
      type: 'scatter', mode: 'markers', name: plain(series.name), x, y: series.y, hoverinfo: 'x+y+name',
      marker: { symbol: 'line-ew-open', size: 18, line: { width: 2, color: css('--ink') }, color: css('--ink') },
    };
    return { type: 'bar', name: plain(series.name), x, y: series.y, marker: { color: color(series, index) }, hoverinfo: 'x+y+name' };
  }

  // Against batch size: points with their intervals; a cross on the axis where there is no number.
  function doubling(series, index) {
    const shade = color(series, index), hover = series.text ? 'x+text' : 'x+y+name';
    if (series.role === 'gap') return {
      type: 'scatter', mode: 'markers+text', name: plain(series.name), x: series.x, y: series.y, text: series.text.map(plain),
      textposition: 'top center', textfont: { size: 11, color: css('--soft') }, cliponaxis: false, showlegend: false,
      marker: { symbol: 'x', size: 9, color: shade }, hoverinfo: hover,
    };
    return {
      type: 'scatter', mode: 'lines+markers', name: plain(series.name), x: series.x, y: series.y, connectgaps: false,
      marker: { color: shade, size: 7, symbol: (series.square ? 'square' : 'circle') + (series.dashed ? '-open' : '') },
      line: { color: shade, width: 1.8, dash: series.dashed ? 'dash' : 'solid' }, hoverinfo: hover,
      error_y: Object.assign({}, intervals(series), { visible: !!series.high, color: shade }),
    };
  }

  // What a series itself asks for goes before what its chart does: roofs are lines among points.
  function curve(chart, series, index) {
    const points = chart.mark === 'points' && series.role !== 'roof';
    return {
      type: 'scatter', mode: points ? 'markers' : 'lines', name: plain(series.name), x: series.x, y: series.y,
      marker: { color: color(series, index), size: 5, opacity: .75 },
      line: { color: color(series, index), width: chart.mark === 'areas' ? .5 : 1.6, dash: series.dashed ? 'dash' : 'solid' },
      stackgroup: chart.mark === 'areas' ? 'all' : undefined, text: (series.text || []).map(plain),
      hoverinfo: series.text ? 'x+y+text' : 'x+y+name',
    };
  }

  // What a line's points span, as a shade behind it.
  function span(series, index) {
    const known = series.x.map((_, i) => i).filter(i => series.low[i] !== null && series.high[i] !== null);
    const back = known.slice().reverse();
    return {
      type: 'scatter', mode: 'lines', x: known.concat(back).map(i => series.x[i]), hoverinfo: 'skip', showlegend: false,
      y: known.map(i => series.high[i]).concat(back.map(i => series.low[i])), fill: 'toself', opacity: .18,
      fillcolor: color(series, index), line: { width: 0 },
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
      label: { text: plain(chart.level_name || ''), textposition: 'start', font: { color: css('--soft'), size: 11 } },
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
    if (chart.mark === 'columns')
      return Object.assign(common, {
        xaxis: Object.assign(x, { type: 'multicategory', dividercolor: css('--line') }), yaxis: y, barmode: 'stack', bargap: .25,
      });
    if (chart.mark === 'curves') {
      const batches = [...new Set(chart.series.flatMap(series => series.x))].sort((a, b) => a - b);
      Object.assign(x, { type: 'log', tickvals: batches, ticktext: batches.map(String), dtick: undefined });
    }
    if (!barred(chart)) {
      if (chart.from_zero) y.rangemode = 'tozero';
      if (chart.logarithmic !== 'none') y.type = 'log';
      if (chart.logarithmic === 'both') x.type = 'log';
      return Object.assign(common, { xaxis: x, yaxis: y });
    }
    const value = Object.assign(axis(chart.y_title), { rangemode: 'tozero' });
    const names = Object.assign(axis(''), {
      type: 'category', categoryorder: 'array', categoryarray: chart.order.map(category), autorange: 'reversed',
      gridcolor: 'rgba(0,0,0,0)', ticksuffix: ' ',
    });
    return Object.assign(common, { xaxis: value, yaxis: names, barmode: { stacks: 'relative', bars: 'overlay', groups: 'group' }[chart.mark], bargap: .35 });
  }

  const rows = chart => chart.mark === 'bars' ? chart.series.reduce((n, series) => n + series.labels.length, 0) : chart.order.length;
  function height(chart) {
    if (chart.mark === 'groups') return 110 + chart.order.length * (16 + 16 * chart.series.length);
    return barred(chart) ? 130 + 44 * rows(chart) + (chart.mark === 'stacks' ? 20 : 0) : chart.mark === 'columns' ? 460 : 340;
  }

  const trace = chart => (series, i) => chart.mark === 'columns' ? column(series, i) : chart.mark === 'curves' ? doubling(series, i) :
    barred(chart) ? bars(series, i) : curve(chart, series, i);

  function draw(chart) {
    const place = document.getElementById(chart.id);
    chart.drawn = true;
    const spans = chart.mark === 'lines' ? chart.series.flatMap((series, i) => series.high ? [span(series, i)] : []) : [];
    Plotly.react(place, spans.concat(chart.series.map(trace(chart))), Object.assign(layout(chart), printing ? { width: 680 } : {}), {
      responsive: true, displaylogo: false, displayModeBar: narrow() ? false : 'hover', modeBarButtonsToRemove: ['select2d', 'lasso2d', 'autoScale2d'],
      toImageButtonOptions: { format: 'svg', filename: chart.id },
    });
  }

  // A report of a thousand records has hundreds of charts: those near the window are drawn at once, the others one by
  // one when nothing else is to be done.
  const near = new IntersectionObserver(entries => {
    for (const entry of entries) {
      const chart = by_id.get(entry.target.id);
      if (entry.isIntersecting && !chart.drawn) draw(chart);
    }
  }, { rootMargin: '900px 0px' });
  const by_id = new Map(charts.map(chart => [chart.id, chart]));

  function draw_next() {
    const next = charts.find(chart => !chart.drawn);
    if (!next) return;
    draw(next);
    setTimeout(draw_next, 20);
  }

  function redraw() {
    for (const chart of charts) if (chart.drawn) draw(chart);
  }

  // Paper has no window and nothing to open.
  let printing = false;
  function before_print() {
    printing = true;
    for (const fold of document.querySelectorAll('details:not([open]):not(.long)')) {
      fold.open = true;
      fold.dataset.opened = 'print';
    }
    for (const chart of charts) draw(chart);
  }

  function after_print() {
    printing = false;
    redraw();
    for (const fold of document.querySelectorAll('details[data-opened]')) {
      fold.open = false;
      delete fold.dataset.opened;
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
    button.addEventListener('click', () => download(by_id.get(button.dataset.chart)));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  addEventListener('beforeprint', before_print);
  addEventListener('afterprint', after_print);
  for (const chart of charts) {
    const place = document.getElementById(chart.id);
    place.style.height = height(chart) + 'px';
    near.observe(place);
  }
  setTimeout(draw_next, 200);
})();
