'use strict';
// What report.html can do with a script: figures under the pointer, other layers and heads of attention.

const dataOf = (element) => JSON.parse(element.querySelector('script').textContent);

function element(name, properties = {}, children = []) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// Curves: a line and the figures of the update next to the pointer.
function showFigures(chart) {
  const svg = chart.querySelector('svg');
  const { x, box: [left, top, width, height], series } = dataOf(chart);
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
  line.setAttribute('class', 'pointer');
  line.setAttribute('y1', top);
  line.setAttribute('y2', top + height);
  const tip = element('div', { className: 'tip', hidden: true });
  chart.append(tip);
  const place = (update) => left + (update - x[0]) / (x[1] - x[0]) * width;
  const nearest = (points, at) => points.reduce(
    (best, point) => Math.abs(place(point[0]) - at) < Math.abs(place(best[0]) - at) ? point : best, points[0]);
  const hide = () => { line.remove(); tip.hidden = true; };

  svg.addEventListener('pointermove', (event) => {
    const drawn = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / drawn.width;
    const pointer = (event.clientX - drawn.left) * scale;
    const found = series
      .map(({ name, points }, i) => ({ name, number: i + 1, point: nearest(points, pointer) }))
      .filter(({ point }) => point);
    const at = nearest(found.map(({ point }) => point), pointer);
    const near = found.filter(({ point }) => Math.abs(place(point[0]) - place(at[0])) < 6);
    line.setAttribute('x1', place(at[0]));
    line.setAttribute('x2', place(at[0]));
    svg.append(line);
    tip.replaceChildren(`update ${at[0].toLocaleString('en')}`, ...near.map(({ name, number, point }) =>
      element('div', {}, [element('b', { className: `series-${number}`, textContent: name }), ` ${point[1]}`])));
    tip.hidden = false;
    const bounds = chart.getBoundingClientRect();
    const right = event.clientX - bounds.left + 14;
    tip.style.left = `${right + tip.offsetWidth > bounds.width ? Math.max(0, right - tip.offsetWidth - 28) : right}px`;
    tip.style.top = `${event.clientY - bounds.top + 14}px`;
  });
  svg.addEventListener('pointerleave', hide);
}

// Attention: which layer and head, and the weight under the pointer.
function showAttention(figure) {
  const { queries, keys, layers } = dataOf(figure);
  const cells = [...figure.querySelectorAll('.cells rect')];
  const labels = { keys: figure.querySelectorAll('.keys text'), queries: figure.querySelectorAll('.queries text') };
  const output = figure.querySelector('output');
  const option = (text, value) => element('option', { textContent: text, value });
  const layer = element('select', {}, layers.map(({ name }, i) => option(name, i)));
  const head = element('select');
  let weights = [];

  const weightsOf = ({ highest, heads }, chosen) => {
    const taken = chosen === 'mean' ? heads : [heads[chosen]];
    const sum = new Float64Array(cells.length);
    for (const text of taken)
      [...atob(text)].forEach((byte, i) => { sum[i] += byte.charCodeAt(0) / 255 * highest / taken.length; });
    return sum;
  };
  const draw = () => {
    weights = weightsOf(layers[layer.value], head.value);
    const highest = Math.max(...weights, 1e-9);
    cells.forEach((cell, i) => cell.setAttribute('fill-opacity', (weights[i] / highest).toFixed(2)));
  };
  const offerHeads = () => {
    const before = head.value;
    head.replaceChildren(option('mean of the heads', 'mean'),
      ...layers[layer.value].heads.map((_, i) => option(`head ${i + 1}`, i)));
    if (before) head.value = before;
    if (!head.value) head.value = 'mean';
    draw();
  };
  const dim = () => {
    for (const lit of figure.querySelectorAll('.lit')) lit.classList.remove('lit');
    output.textContent = '';
  };

  cells.forEach((cell, i) => {
    const query = Math.floor(i / keys.length), key = i % keys.length;
    cell.querySelector('title').remove();  // the line above says it at once
    cell.addEventListener('pointerenter', () => {
      dim();
      labels.queries[query].classList.add('lit');
      labels.keys[key].classList.add('lit');
      output.textContent = `${queries[query]} ← ${keys[key]} ${weights[i].toFixed(2)}`;
    });
  });
  figure.querySelector('.cells').addEventListener('pointerleave', dim);
  layer.value = layers.length - 1;
  layer.ariaLabel = 'layer';
  head.ariaLabel = 'head';
  layer.addEventListener('change', offerHeads);
  head.addEventListener('change', draw);
  figure.querySelector('.which').replaceChildren(layer, ' ', head);
  offerHeads();
}

document.querySelectorAll('.chart').forEach(showFigures);
document.querySelectorAll('figure.attention').forEach(showAttention);
