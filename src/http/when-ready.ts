/** Continues with a value at once, or when its promise is fulfilled. */

/**
 * Calls `next` with a value at once, or when its promise is fulfilled. Most stages of a request have nothing to wait
 * for, and a fulfilled promise would cost each of them a turn of the microtask queue.
 */
export function runWhenReady<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
