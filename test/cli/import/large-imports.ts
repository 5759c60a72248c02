/** Files of many records, and checks for every import. */
import { expect } from 'bun:test';
import { type Place, totalsOf } from '../program.ts';

export const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };

export function records(count: number, withSku = true, from = 0): string {
  const lines = Array.from({ length: count }, (_, place) => {
    const index = from + place;
    const record = { name: `Product ${index}`, price: index % 97, category: `category ${index % 7}` };
    return JSON.stringify(withSku ? { sku: `S-${index}`, ...record } : record);
  });
  return `${lines.join('\n')}\n`;
}

export async function expectExactTotals(place: Place): Promise<void> {
  const { kept, counted } = await totalsOf(place);
  expect(kept).toEqual(counted);
}
