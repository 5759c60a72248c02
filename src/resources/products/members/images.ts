/** Images of a product: links set by clients, and uploads. */
import { z } from 'zod';
import { count, identifier, prose } from '../../../http/schema.ts';
import { maxId } from '../../../storage/database.ts';

const maxUrlLength = 2048;
export const maxImages = 100;
export const maxAltLength = 500;
export const mediaPath = '/media/';

export const alt = prose(maxAltLength).describe('A description of the image for people who cannot see it.');
const pixels = count(1).nullable();

/** Matches a link as sent, or the address of an upload. */
export const imageAddress = `^(?:[Hh][Tt][Tt][Pp][Ss]?://|${mediaPath})`;

export const image = z
  .object({
    id: identifier(),
    url: z
      .string()
      .max(maxUrlLength)
      .meta({
        pattern: imageAddress,
        examples: ['https://images.example/lamp.jpg'],
      })
      .describe('The link as it was sent, or the address of the uploaded file.'),
    alt: alt.nullable(),
    width: pixels.describe('Null for links.'),
    height: pixels.describe('Null for links.'),
    colour: z
      .string()
      .max(30)
      .nullable()
      .meta({ pattern: '^#[0-9a-f]{6}$', examples: ['#8a6f52'] })
      .describe('The colour to show until the image is loaded; null for links.'),
    type: z
      .string()
      .max(50)
      .nullable()
      .meta({ pattern: '^image/[a-z]+$', examples: ['image/jpeg'] })
      .describe('The media type; null for links.'),
  })
  .meta({
    id: 'Image',
    example: {
      ...{ id: 1_274_218_653, url: 'https://images.example/lamp.jpg', alt: 'The lamp, lit' },
      ...{ width: null, height: null, colour: null, type: null },
    },
  });
export type Image = z.output<typeof image>;

function isLink(url: string): boolean {
  // URL would strip, refuse or replace white space, control characters and unpaired surrogates: check first.
  return /^https?:\/\/\S+$/i.test(url) && !/\p{Cc}/u.test(url) && url.isWellFormed() && URL.canParse(url);
}

/** Whether no user name or password precedes the host: all readers of the product would see them. */
const isWithoutCredentials = (url: string): boolean => !/^https?:\/[/\\]+[^/\\?#]*@/i.test(url);

/** Scheme and host of a link, with no `@` before the path. */
const linkBeginning = 'https?://[^/?#@\\\\]*(?:[/?#\\\\]|$)';
const refusal = {
  link: { error: 'must be an http or https address', params: { rule: 'url' } },
  credentials: { error: 'must not have a user name or password', params: { rule: 'credentials' } },
};

/** A link in a request. */
export const imageLink = z
  .string()
  .max(maxUrlLength)
  .refine(isLink, refusal.link)
  .refine(isWithoutCredentials, refusal.credentials)
  .meta({ pattern: `^${linkBeginning}`, examples: ['https://images.example/lamp.jpg'] })
  .describe('Not fetched. Must not contain a user name or password.');

const sentImage = z.object({
  id: identifier().nullish().describe('The id of an image of the product.'),
  url: z
    .string()
    .max(maxUrlLength)
    .refine(url => url.startsWith(mediaPath) || isLink(url), refusal.link)
    .refine(isWithoutCredentials, refusal.credentials)
    .nullish()
    .meta({ pattern: `^(?:${linkBeginning}|${mediaPath})`, examples: ['https://images.example/lamp.jpg'] })
    .describe('Not fetched. Must not contain a user name or password. May be omitted if id names an image.'),
  alt: alt.nullish(),
});
export type SentImage = z.output<typeof sentImage>;

/** Refuses entries that name no image, or one that an earlier entry has named. */
function refuseUnclear(images: readonly SentImage[], context: z.core.$RefinementCtx): void {
  const had = new Set<string | number>();
  for (const [index, { id, url }] of images.entries()) {
    const names = [id, url].filter(name => name !== undefined && name !== null);
    const refuse = (field: string, rule: string, message: string) =>
      context.addIssue({ code: 'custom', path: [index, field], message, params: { rule }, input: images });
    if (names.length === 0) refuse('url', 'required', 'is required');
    else if (names.some(name => had.has(name)))
      refuse(id == null ? 'url' : 'id', 'uniqueItems', 'must not name an image twice');
    for (const name of names) had.add(name);
  }
}

export const sentImages = z
  .array(sentImage)
  .max(maxImages)
  .superRefine(refuseUnclear)
  .describe('Links, or images of the product by id or url, in their order. Omitted images are removed.');

/** An id derived from the url, so that an import can compute it without the database. */
export function computeImageId(url: string, taken: ReadonlySet<number>): number {
  let id = (Bun.hash.xxHash32(url) % maxId) + 1;
  while (taken.has(id)) id = (id % maxId) + 1;
  return id;
}

/** The image that an entry names: by id, unless the entry has a different url; otherwise by url. */
function findMatch(before: readonly Image[], { id, url }: SentImage): Image | undefined {
  const named = before.find(image => image.id === id);
  if (named !== undefined && (url == null || url === named.url)) return named;
  return before.find(image => image.url === url);
}

/** The first entry that names no image of the product and has no link; undefined if there is none. */
export function findUnknownImage(
  before: readonly Image[],
  sent: readonly SentImage[],
): { readonly index: number; readonly field: 'id' | 'url' } | undefined {
  for (const [index, entry] of sent.entries()) {
    if (findMatch(before, entry) !== undefined) continue;
    if (entry.url == null) return { index, field: 'id' };
    if (entry.url.startsWith(mediaPath)) return { index, field: 'url' };
  }
  return undefined;
}

/** The images of a product after a write. An omitted alt keeps the value of an existing image. */
export function mergeImages(before: readonly Image[], sent: readonly SentImage[]): Image[] {
  if (sent.length === 0) return [];
  const matches = sent.map(entry => findMatch(before, entry));
  const taken = new Set(before.map(({ id }) => id));
  const images: Image[] = [];
  for (const [index, { url, alt }] of sent.entries()) {
    const match = matches[index];
    // Named twice, by id and by url: the first entry counts.
    if (match !== undefined && matches.indexOf(match) < index) continue;
    if (match !== undefined) images.push({ ...match, alt: alt === undefined ? match.alt : alt });
    else if (url != null) {
      const id = computeImageId(url, taken);
      taken.add(id);
      images.push({ id, url, alt: alt ?? null, width: null, height: null, colour: null, type: null });
    }
  }
  return images;
}
