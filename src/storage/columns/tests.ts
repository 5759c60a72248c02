/** Conditions of lists as tests of columns in memory. */
import type { AttributeTest } from '../attributes/condition.ts';
import type { Condition } from '../list/request.ts';
import { findSource } from './source.ts';

/** The test that a condition makes of a column; undefined for one that only the database decides. */
export function toAttributeTest(condition: Condition): AttributeTest | undefined {
  if (condition.operator === 'attribute') return condition.test;
  if (findSource(condition.column) === undefined || condition.operator === 'is null') return undefined;
  if (condition.operator === 'in') return { of: 'equal', texts: condition.values };
  const { operator, value } = condition;
  if (operator === '=') return { of: 'equal', texts: [String(value)] };
  return typeof value === 'number' ? { of: 'number', bounds: [{ operator, value }] } : undefined;
}
