/** Whether a value is what JSON calls an object (RFC 8259 §4): null and arrays are none. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of a value that is an object and has it itself: `constructor` is there where the text says so. */
export function findMember(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
