/** Building blocks for the schemas of requests and representations. */
import { z } from 'zod';
import { maxId } from '../storage/database.ts';
import { buildErrorDetail, type ErrorDetail } from './errors.ts';

/** PostgreSQL stores neither U+0000 nor unpaired surrogates: both are refused everywhere. */
export const isStorable = (value: string): boolean => !value.includes('\u0000') && value.isWellFormed();
export const notStorable = {
  error: 'must not contain U+0000 or unpaired surrogates',
  params: { rule: 'characters' },
};

/** The documented pattern of a text that may be anything storable. */
export const anyText = '^[^\\u0000]*$';

/** A string of at most `maximum` characters (code points, as JSON Schema counts), kept as sent. */
export const prose = (maximum: number) =>
  z
    .string()
    .refine(isStorable, notStorable)
    .refine(value => hasAtMost(value, maximum), {
      error: `must be at most ${maximum} characters long`,
      params: { rule: 'maxLength' },
    })
    .meta({ maxLength: maximum, pattern: anyText });

/** Whether a text has at most `maximum` characters of one or two UTF-16 units; few texts need to be counted. */
export const hasAtMost = (value: string, maximum: number): boolean =>
  value.length <= maximum || (value.length <= 2 * maximum && [...value].length <= maximum);

/** The documented pattern of a text that is not blank. */
export const notBlank = '^\\s*[^\\s\\u0000][^\\u0000]*$';

/** A string like `prose`, with surrounding whitespace removed; a blank one is refused. */
export const text = (maximum: number) =>
  z
    .string()
    .trim()
    .refine(value => value !== '', { error: 'must not be blank', params: { rule: 'blank' } })
    .pipe(prose(maximum))
    .meta({ minLength: 1, maxLength: maximum, pattern: notBlank });

/** Parts of a local part are joined by dots; a top-level domain in another script begins with `xn--` (RFC 5890). */
const addressPattern =
  /^[A-Za-z0-9_!#$%&'*+/=?^`{|}~-]+(?:\.[A-Za-z0-9_!#$%&'*+/=?^`{|}~-]+)*@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+(?:[A-Za-z]{2,}|[Xx][Nn]--[A-Za-z0-9-]+)$/;

/**
 * An e-mail address in ASCII, with a domain name as the DNS spells it: what mail servers accept everywhere (RFC 5321
 * §4.1.2, without quoted local parts and addresses of hosts).
 */
export const emailAddress = z.email({ pattern: addressPattern, error: 'must be an e-mail address' });

export const currencyCode = z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters (ISO 4217)');

/** The body of the response to a request whose work is done later. */
export const queued = z.object({ status: z.literal('queued') }).meta({ id: 'Queued' });

/** The end of Zod's messages about a missing value. */
const missing = 'received undefined';

/** One of a few words. Unlike `z.enum`, it reports a missing value as required. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: ({ input }) => (input === undefined ? missing : undefined) });

/** An ISO 8601 timestamp in UTC with milliseconds, as representations contain it. */
export const timestamp = () => z.iso.datetime({ precision: 3 });

/** Many programs write times without seconds, without an offset, or with a space in the middle. */
const dateTimeRule =
  'must be a date-time with seconds and an offset (RFC 3339), such as 2026-01-31T12:00:00Z';

/** A date-time (RFC 3339) that a client sends. @param hint what its error adds */
export const buildDateTime = (hint = '') =>
  z.iso.datetime({
    offset: true,
    error: ({ input }) => (typeof input === 'string' ? `${dateTimeRule}${hint}` : undefined),
  });

export const identifier = () => z.int().min(1).max(maxId);

/**
 * A number of rows, or of changes. There are no more rows than ids, so 32 bits suffice: code generated for more makes
 * such a number a BigInt in JavaScript.
 */
export const count = (minimum = 0) => z.int().min(minimum).max(maxId);

const decimal = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/** What the document adds about a parameter. */
interface Documented {
  readonly default?: number;
  readonly examples?: readonly number[];
}

/** A number in a query string. In the document, `override` replaces the schema of the text. */
export const numberParameter = (documented: Documented) =>
  z
    .string()
    .regex(decimal, 'must be a number')
    .transform(Number)
    .pipe(z.number())
    .meta({ override: { type: 'number', ...documented } });

/** An integer in a query string. A value outside the limits is an error; it is never clamped. */
export const integerParameter = (minimum: number, maximum: number, documented: Documented = {}) =>
  z
    .string()
    .regex(/^[+-]?\d+$/, 'must be an integer')
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum))
    .meta({ override: { type: 'integer', minimum, maximum, ...documented } });

/** A filter of a list by the id of a resource. */
export const idFilter = (description: string) =>
  integerParameter(1, maxId, { examples: [1] })
    .optional()
    .describe(description);

/** Converts Zod's issues to the service's error details: field, pointer, rule and a message for people. */
export function toErrorDetails(error: z.ZodError, prefix: readonly string[] = []): ErrorDetail[] {
  const toName = ({ path }: z.core.$ZodIssue) => path.map(String).join('/');
  const toBound = (issue: z.core.$ZodIssue) => `${issue.code} ${toName(issue)}`;
  const bounds = new Set(error.issues.filter(issue => !isSafeRange(issue)).map(toBound));
  const mistyped = new Set(error.issues.filter(issue => issue.code === 'invalid_type').map(toName));
  return error.issues
    .filter(issue => !isSafeRange(issue) || !bounds.has(toBound(issue)))
    .filter(issue => !isLength(issue) || !mistyped.has(toName(issue)))
    .map(issue => {
      const { code, message } = describeRule(issue);
      return buildErrorDetail([...prefix, ...issue.path.map(String)], code, message);
    });
}

/** Whether an issue reports an unsafe integer; a bound of the field itself is more specific. */
const isSafeRange = (issue: z.core.$ZodIssue): boolean => 'note' in issue;

/** Whether an issue is about a length. Texts and arrays have one: it means nothing if one was sent for the other. */
const isLength = (issue: z.core.$ZodIssue): boolean =>
  (issue.code === 'too_small' || issue.code === 'too_big') &&
  (issue.origin === 'string' || issue.origin === 'array');

/** The stable word for a broken rule (that of JSON Schema if there is one) and what the rule requires. */
function describeRule(issue: z.core.$ZodIssue): { code: string; message: string } {
  if (issue.message.endsWith(missing)) return { code: 'required', message: 'is required' };
  switch (issue.code) {
    case 'invalid_type':
      return { code: 'type', message: describeType(issue) };
    case 'too_small':
    case 'too_big':
      return describeLimit(issue);
    case 'invalid_format':
      return {
        code: issue.format === 'regex' ? 'pattern' : 'format',
        message: issue.message,
      };
    case 'invalid_value':
      return { code: 'enum', message: `must be one of ${issue.values.map(String).join(', ')}` };
    case 'invalid_key':
      return describeKey(issue);
    case 'custom':
      return {
        code: typeof issue.params?.rule === 'string' ? issue.params.rule : 'invalid',
        message: issue.message,
      };
    default:
      return { code: issue.code, message: issue.message };
  }
}

/** A name of a member breaks a rule of its own. */
function describeKey(issue: z.core.$ZodIssueInvalidKey): { code: string; message: string } {
  const [first] = issue.issues;
  if (first === undefined) return { code: issue.code, message: 'cannot be a name' };
  const { code, message } = describeRule(first);
  return { code, message: `has a name that ${message}` };
}

function describeLimit(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): {
  code: string;
  message: string;
} {
  const small = issue.code === 'too_small';
  const limit = small ? issue.minimum : issue.maximum;
  const word = small ? 'min' : 'max';
  const plural = Number(limit) === 1 ? '' : 's';
  if (issue.origin === 'array')
    return {
      code: `${word}Items`,
      message: `must have ${limit} item${plural} or ${small ? 'more' : 'fewer'}`,
    };
  if (issue.origin === 'string') {
    return {
      code: `${word}Length`,
      message: `must be at ${small ? 'least' : 'most'} ${limit} character${plural} long`,
    };
  }
  if (issue.inclusive === false)
    return {
      code: `exclusive${small ? 'Min' : 'Max'}imum`,
      message: `must be ${small ? 'more' : 'less'} than ${limit}`,
    };
  return { code: `${word}imum`, message: `must be ${limit} or ${small ? 'more' : 'less'}` };
}

/**
 * What was sent is named too: `"19.99"` looks like a number to those who sent it, and an empty list to a program whose
 * language writes an empty object as `[]`. Only Zod's message has it.
 */
function describeType({ expected, message }: z.core.$ZodIssueInvalidType): string {
  const sent = /, received (\w+)$/.exec(message)?.[1];
  const rule = `must be ${nameType(expected)}`;
  // It is a number, but has decimals.
  if (sent === undefined || (expected === 'int' && sent === 'number')) return rule;
  return `${rule}, not ${nameType(sent)}`;
}

const withoutArticle: readonly string[] = ['null', 'Infinity'];

function nameType(type: string): string {
  if (withoutArticle.includes(type)) return type;
  if (type === 'int') return 'an integer';
  if (type === 'record') return 'an object';
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** Whether all values differ, for lists whose items are unique. */
export const hasNoneTwice = (values: readonly unknown[]): boolean => new Set(values).size === values.length;
