/** The arithmetic of stock: whatever orders and adjustments come, and in whatever order. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { toStock } from '../../src/resources/products/members/stock.ts';
import {
  adjust,
  type Counted,
  countAvailable,
  deduct,
  isCounted,
  release,
  reserve,
} from '../../src/resources/stock/quantities.ts';

type Step =
  | { readonly kind: 'order'; readonly quantity: number }
  | { readonly kind: 'pay' | 'cancel'; readonly which: number }
  | { readonly kind: 'adjust'; readonly delta: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('order' as const), quantity: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ kind: fc.constantFrom('pay' as const, 'cancel' as const), which: fc.nat(50) }),
  fc.record({ kind: fc.constant('adjust' as const), delta: fc.integer({ min: -30, max: 30 }) }),
);

/** Plays the steps; looks at the stock after each. */
function play(steps: readonly Step[], backorder: boolean, check: (state: State) => void): void {
  const state: State = {
    stock: { tracked: true, onHand: 10, reserved: 0, backorder },
    open: [],
    adjusted: 0,
    taken: 0,
  };
  for (const one of steps) {
    if (one.kind === 'order' && one.quantity <= countAvailable(state.stock)) {
      state.stock = reserve(state.stock, one.quantity);
      state.open.push(one.quantity);
    } else if (one.kind === 'adjust') {
      const after = adjust(state.stock, one.delta);
      if ('rule' in after) continue;
      state.stock = after;
      state.adjusted += one.delta;
    } else if (one.kind === 'pay' || one.kind === 'cancel') {
      const [quantity] = state.open.splice(one.which % Math.max(1, state.open.length), 1);
      if (quantity === undefined) continue;
      const after = (one.kind === 'pay' ? deduct : release)(state.stock, quantity);
      if (isCounted(after)) state.stock = after;
      if (one.kind === 'pay') state.taken += quantity;
    }
    check(state);
  }
}

interface State {
  stock: Counted;
  readonly open: number[];
  adjusted: number;
  taken: number;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

test('without backorder every piece is on hand, sold or adjusted, and reserved pieces are on hand', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      play(steps, false, ({ stock, open, adjusted, taken }) => {
        expect(stock.reserved).toBe(sum(open));
        expect(stock.onHand).toBe(10 + adjusted - taken);
        expect(stock.reserved).toBeLessThanOrEqual(stock.onHand);
        expect(stock.reserved).toBeGreaterThanOrEqual(0);
      });
    }),
  );
});

test('with backorder every piece is on hand, sold or adjusted, and pieces sold beyond these are owed', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      play(steps, true, ({ stock, open, adjusted, taken }) => {
        const { onHand, owed = 0 } = stock;
        expect(stock.reserved).toBe(sum(open));
        expect(onHand - owed).toBe(10 + adjusted - taken);
        expect(onHand).toBeGreaterThanOrEqual(0);
        // What there is has gone to those who wait for it.
        expect(Math.min(onHand, owed)).toBe(0);
        expect('owed' in stock).toBe(owed > 0);
      });
    }),
  );
});

test('only tracked stock is counted', () => {
  const stock = { tracked: false, onHand: 1, reserved: 0, backorder: false };
  expect([null, stock, { ...stock, tracked: true }].map(isCounted)).toEqual([false, false, true]);
});

test('reservations of orders are kept even if an import turns off the counting of stock', () => {
  const kept = { reserved: 3, owed: 2, onHand: 0 };
  expect([toStock(null, { ...kept, reserved: 0 }), toStock(null, kept)]).toEqual([
    null,
    { tracked: false, onHand: 0, reserved: 3, backorder: false },
  ]);
});
