/** The meaning of the values of enumerations: `x-enum-descriptions`, in the order of `enum`, for client generators. */

/** A vocabulary applies to enumerations whose values it has all; the first that fits is used. */
const vocabularies: readonly Readonly<Record<string, string>>[] = [
  { active: 'For sale.', archived: 'No longer for sale; kept for orders that have it.' },
  { PENDING: 'Placed, and not paid yet.', PAID: 'Paid.', CANCELLED: 'Cancelled; it can no longer be paid.' },
  { issued: 'Issued with the payment.', sent: 'Sent by mail.' },
  { pending: 'The provider has not said yet how it ends.', succeeded: 'The money has been received.' },
  { manual: 'Recorded by hand.', stripe: 'Taken by Stripe.' },
  {
    admin: 'May do everything.',
    editor: 'Writes products, articles and posts, and reads all orders.',
    user: 'Orders, comments and reviews.',
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
    replace: 'Puts the value in the place of what is at the path.',
    test: 'Refuses the patch unless the value is at the path.',
  },
  { remove: 'Removes what is at the path.' },
  { move: 'Moves what is at `from` to the path.', copy: 'Copies what is at `from` to the path.' },
  {
    text: 'Any text, or several.',
    number: 'A number.',
    boolean: 'Yes or no.',
    date: 'A date, or a moment in UTC (ISO 8601).',
    choice: 'One of the choices, or several.',
  },
  {
    POST: 'Creates something, or starts an action.',
    PUT: 'Replaces the resource.',
    PATCH: 'Changes parts of the resource.',
    DELETE: 'Deletes the resource.',
  },
  { sqlite: 'A file of this service.', postgresql: 'A PostgreSQL server.' },
  { celsius: 'Degrees Celsius.' },
  { g: 'Grams.', kg: 'Kilograms.', oz: 'Ounces (avoirdupois).', lb: 'Pounds (avoirdupois).' },
  {
    id: 'By id, that is in the order they were created.',
    number: 'By number.',
    name: 'By name.',
    key: 'By key.',
    label: 'By label.',
    title: 'By title.',
    email: 'By e-mail address.',
    path: 'By path: each category before those below it.',
    position: 'By place among those of the same parent or product.',
    price: 'By price.',
    total: 'By total.',
    rating: 'By rating.',
    createdAt: 'By the moment of creation.',
    created_at: 'The same as createdAt.',
  },
  { asc: 'The smallest or oldest first.', desc: 'The largest or newest first.' },
  { exact: 'Counted exactly.' },
  { br: 'Brotli (RFC 7932).', zstd: 'Zstandard (RFC 8878).', gzip: 'RFC 1952.', deflate: 'RFC 1950.' },
  { 'handling=strict': 'What is not known is refused.' },
  {
    contain: 'All of the picture is within them.',
    cover: 'They are filled, by the middle of the picture.',
    fill: 'They are filled, by the picture distorted.',
  },
  { jpeg: 'JPEG, on white where it is transparent.', png: 'PNG, without loss.', webp: 'WebP.' },
  { 'application/json': 'JSON.', 'text/html': 'A page.', 'text/plain': 'Text for programs.' },
  { nosniff: 'The Content-Type counts.' },
  { true: 'It holds.' },
  { true: 'Only those for which it holds.', false: 'Only those for which it does not hold.' },
];

/** One text for each value; undefined if there is no text for some value. */
export function findValueTexts(values: readonly unknown[]): readonly string[] | undefined {
  const words = values.map(String);
  if (words.every(word => /^\w+:(read|write)$/.test(word))) return words.map(describeScope);
  if (values.every(value => typeof value === 'number')) return words.map(word => `${word} pixels.`);
  const fitting = vocabularies.find(vocabulary =>
    values.every(value => value === null || String(value) in vocabulary),
  );
  return fitting && words.map(word => fitting[word] ?? 'As if it were not given.');
}

function describeScope(scope: string): string {
  const [resources = '', right] = scope.split(':');
  return right === 'read' ? `Reads ${resources}.` : `Creates, changes and deletes ${resources}.`;
}
