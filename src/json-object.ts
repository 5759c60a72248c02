/** Whether a value is a JSON object (RFC 8259 §4): neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of JSON text; undefined if it is not valid. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An own member of an object, else undefined: `constructor` is found only if the JSON text has it. */
export function findMember(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The names of an object's members, in their order; the object has no others than its type. */
export function getMemberNames<Members extends object>(members: Members) {
  // Boundary: Object.keys types its result as string[], because an object may have more members than its type.
  return Object.keys(members) as (keyof Members & string)[];
}

/** Maximum nesting of arrays and objects from outside: functions that call themselves for each level use up the stack. */
export const maxDepth = 64;

/** Whether arrays and objects are nested deeper than `maxDepth`. */
export const isTooDeep = (value: unknown, levels = maxDepth): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some(member => isTooDeep(member, levels - 1)));
