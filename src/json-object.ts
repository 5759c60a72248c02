/** Whether a value is a JSON object (RFC 8259 §4): neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member of an object, else undefined: `constructor` is found only if the JSON text has it. */
export function findMember(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
