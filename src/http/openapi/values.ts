/** The meaning of the values of enumerations: `x-enum-descriptions`, in the order of `enum`, for client generators. */

/** A vocabulary applies to enumerations whose values it has all; the first that fits is used. */
const vocabularies: readonly Readonly<Record<string, string>>[] = [
  { active: 'For sale.', archived: 'No longer for sale; kept for existing orders.' },
  { PENDING: 'Placed, but not yet paid.', PAID: 'Paid.', CANCELLED: 'Cancelled; it can no longer be paid.' },
  { issued: 'Issued with the payment.', sent: 'Sent by mail.' },
  { pending: 'The provider has not yet reported the result.', succeeded: 'The money has been received.' },
  { manual: 'Recorded by hand.', stripe: 'Taken by Stripe.' },
  {
    admin: 'May do everything.',
    editor: 'Writes products, articles and posts, and reads all orders.',
    user: 'Places orders and writes comments and reviews.',
  },
  {
    product: 'A product.',
    article: 'An article.',
    post: 'A post.',
    order: 'An order.',
    user: 'A user.',
  },
  {
    add: 'Adds the value at the path.',
    replace: 'Replaces the value at the path.',
    test: 'Refuses the patch unless the value at the path is equal.',
  },
  { remove: 'Removes the value at the path.' },
  { move: 'Moves the value at `from` to the path.', copy: 'Copies the value at `from` to the path.' },
  {
    text: 'Any text, or several texts.',
    number: 'A number.',
    boolean: 'True or false.',
    date: 'A date, or a moment in UTC (ISO 8601).',
    choice: 'One or more of the choices.',
  },
  {
    POST: 'Creates something, or starts an action.',
    PUT: 'Replaces the resource.',
    PATCH: 'Changes parts of the resource.',
    DELETE: 'Deletes the resource.',
  },
  { sqlite: 'A file of the service.', postgresql: 'A PostgreSQL server.' },
  { celsius: 'Degrees Celsius.' },
  { g: 'Grams.', kg: 'Kilograms.', oz: 'Ounces (avoirdupois).', lb: 'Pounds (avoirdupois).' },
  {
    id: 'By id, which is the order of creation.',
    number: 'By number.',
    name: 'By name.',
    key: 'By key.',
    label: 'By label.',
    title: 'By title.',
    email: 'By e-mail address.',
    path: 'By path: each category before those below it.',
    position: 'By position within the same parent or product.',
    price: 'By price.',
    total: 'By total.',
    rating: 'By rating.',
    createdAt: 'By time of creation.',
    created_at: 'The same as createdAt.',
  },
  { asc: 'The smallest or oldest first.', desc: 'The largest or newest first.' },
  { exact: 'Counted exactly.' },
  { br: 'Brotli (RFC 7932).', zstd: 'Zstandard (RFC 8878).', gzip: 'RFC 1952.', deflate: 'RFC 1950.' },
  { 'handling=strict': 'Unknown names are refused.' },
  {
    contain: 'The whole picture fits within `w` and `h`.',
    cover: 'The middle of the picture fills `w` and `h`.',
    fill: 'The picture is distorted to fill `w` and `h`.',
  },
  { jpeg: 'JPEG; transparent parts become white.', png: 'Lossless PNG.', webp: 'WebP.' },
  { 'application/json': 'JSON.', 'text/html': 'An HTML page.', 'text/plain': 'Text for programs.' },
  { nosniff: 'The Content-Type is authoritative.' },
  { true: 'It is true.' },
  { true: 'Only items for which it is true.', false: 'Only items for which it is false.' },
];

/** One text for each value; undefined if there is no text for some value. */
export function findValueTexts(values: readonly unknown[]): readonly string[] | undefined {
  const words = values.map(String);
  if (words.every(word => /^\w+:(read|write)$/.test(word))) return words.map(describeScope);
  if (values.every(value => typeof value === 'number')) return words.map(word => `${word} pixels.`);
  const fitting = vocabularies.find(vocabulary => words.every(word => word in vocabulary));
  return fitting && words.flatMap(word => fitting[word] ?? []);
}

function describeScope(scope: string): string {
  const [resources = '', right] = scope.split(':');
  return right === 'read' ? `Reads ${resources}.` : `Creates, changes and deletes ${resources}.`;
}
