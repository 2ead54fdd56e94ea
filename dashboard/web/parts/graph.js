// The steps of a workflow as boxes and arrows: a chain runs from left to right, a group side by side.
import { html } from '../html.js';
import { link } from '../url.js';
import { short } from '../format.js';
import { tone } from './view.js';

const BOX = { width: 170, height: 46, across: 50, down: 16 };
/** Steps drawn one by one; more of them are one box with a count. */
const MOST = 24;

/** The place of each step, by column and row. */
function places(flow) {
  const steps = flow.steps ?? [];
  const chain = flow.type === 'chain';
  const shown = steps.slice(0, MOST);
  const nodes = shown.map((step, n) => ({ step, column: chain ? n : 1, row: chain ? 0 : n }));
  const rest = steps.slice(MOST);
  if (rest.length) {
    nodes.push({ step: { type: `${rest.length} more`, state: rest.every(({ state }) => state === 'completed')
      ? 'completed' : 'waiting' },
      column: chain ? MOST : 1, row: chain ? 0 : MOST });
  }
  const edges = chain
    ? nodes.slice(1).map((node, n) => [nodes[n], node])
    : nodes.map((node) => [{ column: 0, row: (nodes.length - 1) / 2 }, node]);
  if (!chain) nodes.unshift({ step: { type: flow.type, state: flow.state }, column: 0, row: (nodes.length - 1) / 2 });
  return { nodes, edges };
}

export function Graph({ flow }) {
  const { nodes, edges } = places(flow);
  const left = (column) => 4 + column * (BOX.width + BOX.across);
  const top = (row) => 4 + row * (BOX.height + BOX.down);
  const width = left(Math.max(...nodes.map(({ column }) => column))) + BOX.width + 4;
  const height = top(Math.max(...nodes.map(({ row }) => row))) + BOX.height + 4;
  return html`<div class="graph" role="region" aria-label="Graph of the steps" tabindex="0"><svg width=${width}
    height=${height} role="group" aria-label=${`${flow.type} of ${flow.steps?.length ?? 0} steps`}>
    ${edges.map(([from, to], n) => {
      const [x1, y1, x2, y2] = [left(from.column) + BOX.width, top(from.row) + BOX.height / 2, left(to.column),
        top(to.row) + BOX.height / 2];
      return html`<path key=${n} d=${`M${x1} ${y1} C${x1 + 25} ${y1} ${x2 - 25} ${y2} ${x2} ${y2}`} />`;
    })}
    ${nodes.map(({ step, column, row }, n) => html`<${Node} key=${n} step=${step} x=${left(column)}
      y=${top(row)} />`)}</svg></div>`;
}

function Node({ step, x, y }) {
  const box = html`<rect class=${tone(step.state)} x=${x} y=${y} width=${BOX.width} height=${BOX.height} rx="6" />
    <text x=${x + 10} y=${y + 19}>${short(step.name ?? step.type, 22)}</text> <text class="dim" x=${x + 10}
      y=${y + 37}>${step.state}</text>`;
  return step.job_id ? html`<a href=${link(['jobs', step.job_id])}>${box}</a>` : html`<g>${box}</g>`;
}
