// Words and pieces about plans that several pages show.

import { el } from './dom.js';
import { percent } from './format.js';

// nameOf is a workload as namespace/name, or name.
export const nameOf = (w) => (w.namespace ? `${w.namespace}/${w.name}` : w.name);

// demandTag says whether a plan serves what it should.
export function demandTag(plan) {
  const words = { SERVED: 'served', PARTIAL: 'partly served', INFEASIBLE: 'a minimum cannot hold' };
  return el('span', { class: plan.demand === 'SERVED' ? 'tag good' : 'tag bad' }, words[plan.demand] ?? plan.demand);
}

// proofTag says how good a plan is known to be.
export function proofTag(plan) {
  const within = plan.gap < 0.00005 ? '' : ` within ${percent(plan.gap, 2)}`;
  switch (plan.proof) {
    case 'OPTIMAL':
      return el('span', { class: 'tag good' }, `optimal${within}`);
    case 'FEASIBLE':
      return el('span', { class: 'tag warn' }, `proven${within}`);
    default:
      return el('span', { class: 'tag warn' }, 'not proven');
  }
}

// kindOf is the quantile that limits of an SLO are about, the highest of several.
export function kindOf(limits) {
  return ['p99', 'p95', 'p90', 'p50', 'mean'].find((k) => limits?.[k]) ?? 'mean';
}

// sumOver adds up what a function makes of each of a list.
export const sumOver = (list, of) => list.reduce((total, x) => total + of(x), 0);
