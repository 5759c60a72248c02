/** Whether a value is what JSON calls an object (RFC 8259 §4): null and arrays are none. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
