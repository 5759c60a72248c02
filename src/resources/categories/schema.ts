/** The schema of categories. */
import { z } from 'zod';
import { pageParameters, sortParameters } from '../../http/paginate.ts';
import { count, identifier, notBlank, prose, text, timestamp } from '../../http/schema.ts';
import {
  containsSeparator,
  deepest,
  joinPath,
  maxNameLength,
  maxPathBytes,
  maxPathLength,
  maxSlugLength,
  splitPath,
} from '../../storage/categories/names.ts';
import { maxId } from '../../storage/database.ts';
import { buildHalSchemas } from '../crud/schema.ts';
import { imageAddress } from '../products/members/images.ts';

const separated = {
  error: 'must not contain a separate >, which separates the names of a path',
  params: { rule: 'separator' },
};

const name = text(maxNameLength)
  .refine(value => !containsSeparator(value), separated)
  .describe('Unique among the categories of one parent; must not have a `>` that stands by itself.')
  .meta({ minLength: 1, maxLength: maxNameLength });
const slugPattern =
  /^[\p{Ll}\p{Lo}\p{Lm}\p{N}][\p{Ll}\p{Lo}\p{Lm}\p{N}\p{M}]*(?:-[\p{Ll}\p{Lo}\p{Lm}\p{N}][\p{Ll}\p{Lo}\p{Lm}\p{N}\p{M}]*)*$/u;
/**
 * A simpler pattern for the OpenAPI document, since many regular expression engines lack Unicode properties. It accepts
 * all valid slugs: it is exact for ASCII, and leaves other characters to the service.
 */
const describedSlug = '^[^\\x00-/:-`{-\\x7f]+(?:-[^\\x00-/:-`{-\\x7f]+)*$';
const slug = z
  .string()
  .max(maxSlugLength)
  .regex(slugPattern, 'must be lower-case letters and digits, with single hyphens between them')
  .describe('The name for use in addresses, unique. Derived from the name if omitted.')
  .meta({ minLength: 1, pattern: describedSlug, examples: ['tables'] });
const parentText = 'The category directly above it; null at the top level.';
const parentId = identifier()
  .nullable()
  .describe(parentText)
  .meta({ examples: [null] });
/** Several categories may have it; the older one then comes first. */
export const lastPosition = 1_000_000;
const position = z
  .int()
  .min(0)
  .max(lastPosition)
  .describe('The position among the categories of one parent, lowest first. Last if omitted.');
const imageText =
  'The image it is shown with: the id of an image of a product. Null once the product no longer has that image.';
const imageId = identifier()
  .nullable()
  .describe(imageText)
  .meta({ examples: [null] });
const shownImage = z
  .string()
  .max(2048)
  .nullable()
  .describe('The address of that image. Read-only.')
  .meta({ pattern: imageAddress, examples: [null] });
const description = prose(10_000);

/** The path of a category: trimmed names joined by ` > `, at most as many as the tree has levels. */
export const categoryPath = text(maxPathLength)
  .superRefine((value, context) => {
    // Too long, which is already reported: parsing a megabyte would block the event loop for too long.
    if (value.length > 2 * maxPathLength) return;
    const names = splitPath(value);
    const problem = findProblem(names);
    if (problem !== undefined)
      context.addIssue({ code: 'custom', message: problem.message, params: { rule: problem.rule } });
  })
  .transform(value => joinPath(splitPath(value)))
  .meta({ minLength: 1, maxLength: maxPathLength, examples: ['Furniture > Tables'] });

/** A path in a response. */
export const shownPath = z
  .string()
  .min(1)
  .max(maxPathLength)
  .meta({ pattern: notBlank, examples: ['Furniture > Tables'] });

/** The first problem with the names of a path, if any. */
function findProblem(names: readonly string[]): { rule: string; message: string } | undefined {
  if (names.length > deepest)
    return { rule: 'levels', message: `must not have more than ${deepest} levels, and has ${names.length}` };
  for (const [index, one] of names.entries()) {
    // Must fit after the name of the field, with or without a colon: "category has a name at level 2 that must …".
    const where = `has a name at level ${index + 1} that`;
    if (one === '') return { rule: 'blank', message: `${where} must not be blank` };
    if ([...one].length > maxNameLength)
      return { rule: 'maxLength', message: `${where} must be at most ${maxNameLength} characters long` };
    if (containsSeparator(one)) return { rule: 'separator', message: `${where} ${separated.error}` };
  }
  if (Buffer.byteLength(joinPath(names)) > maxPathBytes)
    return { rule: 'maxBytes', message: `must take at most ${maxPathBytes} bytes in UTF-8` };
  return undefined;
}

const example = {
  id: 2,
  name: 'Tables',
  slug: 'tables',
  path: 'Furniture > Tables',
  parentId: 1,
  position: 0,
  description: 'To eat at, to write at.',
  imageId: null,
  image: null,
  productCount: 12,
  createdAt: '2026-01-15T09:30:00.000Z',
  updatedAt: '2026-01-15T09:30:00.000Z',
} as const;

export const categoryBodyExample = { name: 'Tables', description: 'To eat at, to write at.' };
export const categoryReplacementExample = {
  name: 'Loudspeakers',
  description: 'For shelves, floors and pockets.',
};

export const category = z
  .object({
    id: identifier(),
    name,
    slug,
    path: shownPath.describe(
      `The names from the top-level category down to this one, joined by \` > \`: at most ${maxPathBytes} bytes in UTF-8. Read-only.`,
    ),
    parentId,
    position,
    description: description.nullable(),
    imageId,
    image: shownImage,
    productCount: count().describe(
      'The number of products in it and in all categories below it, each counted once. Read-only.',
    ),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  })
  .meta({ id: 'Category', example });

export const { hal, page } = buildHalSchemas(category, 'categories', {
  always: ['children', 'products'],
  sometimes: ['parent', 'image', 'edit', 'delete'],
});

export const createCategory = z
  .object({
    name,
    slug: slug.nullish(),
    parentId: parentId.optional().describe(parentText),
    position: position.nullish(),
    description: description.nullish(),
    imageId: imageId.optional().describe(imageText),
  })
  .meta({ id: 'CreateCategory' });

/** PUT: omitted fields become null; slug and position keep their values. */
export const replaceCategory = createCategory
  .transform(input => ({
    name: input.name,
    slug: input.slug ?? null,
    parentId: input.parentId ?? null,
    position: input.position ?? null,
    description: input.description ?? null,
    imageId: input.imageId ?? null,
  }))
  .meta({ id: 'ReplaceCategory' });

export const patchCategory = createCategory.partial().meta({ id: 'PatchCategory' });

export const sortColumns = {
  id: 'id',
  position: 'position',
  name: 'name',
  path: 'path',
  createdAt: 'created_at',
} as const;

const noParent = ['null', 'root'];
const isParent = (value: string) =>
  noParent.includes(value) || (/^\d{1,10}$/.test(value) && Number(value) >= 1 && Number(value) <= maxId);
const { sort, order } = sortParameters(sortColumns);

export const listCategories = z.object({
  parentId: z
    .string()
    .refine(isParent, { error: 'must be the id of a category, or null or root', params: { rule: 'pattern' } })
    .transform(value => (noParent.includes(value) ? null : Number(value)))
    .optional()
    .describe('Only the categories directly below this one; `null` or `root` for the top level.')
    .meta({
      override: { type: 'string', maxLength: 10, pattern: '^(?:\\d+|null|root)$', examples: ['root'] },
    }),
  slug: text(maxSlugLength).optional().describe('Only the category with this slug.'),
  path: categoryPath.optional().describe('Only the category with this path.'),
  sort: sort.describe('Sort key; ties are broken by id. Default: position with parentId, otherwise id.'),
  order,
  ...pageParameters,
});

/** All fields that a caller may set; the service chooses a slug or position that is null. */
export type CategoryFields = z.output<typeof replaceCategory>;
