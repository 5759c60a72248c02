/** `/media/{hash}`: images in the requested sizes and formats. Outside the API versions: images never change. */
import { z } from 'zod';
import { allow } from '../http/access.ts';
import { createEndpoint, type Endpoint } from '../http/endpoint.ts';
import { HttpError } from '../http/errors.ts';
import { requireAcceptance } from '../http/negotiate.ts';
import type { Quota } from '../http/quota/index.ts';
import { acceptRanges } from '../http/response/ranges.ts';
import type { Reply } from '../http/response/reply.ts';
import { oneOf } from '../http/schema.ts';
import type { Media, MediaFile } from './index.ts';
import { type KeptType, keptTypes } from './inspect/image.ts';
import { refuseImageErrors } from './refusal.ts';
import { hashPattern } from './store/store.ts';
import {
  fits,
  formats,
  getUsualFormat,
  type Size,
  sizes,
  toVariantName,
  type VariantRequest,
} from './variants.ts';

const forever = 'public, max-age=31536000, immutable';
/** An image that is opened directly in a browser must not run or load anything. */
const policy = "default-src 'none'; sandbox";

const isSize = (value: number): value is Size => sizes.some(size => size === value);
const sizeParameter = (what: string) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be an integer')
    .transform(Number)
    .refine(isSize, { error: `must be one of ${sizes.join(', ')}`, params: { rule: 'enum' } })
    .meta({ override: { type: 'integer', format: 'int32', enum: sizes } })
    .optional()
    .describe(`The ${what} in pixels. Only \`fill\` enlarges an image; no side has more than 2560.`);

const query = z.object({
  w: sizeParameter('width'),
  h: sizeParameter('height'),
  fit: oneOf(fits)
    .optional()
    .describe(
      'If both `w` and `h` are given: `contain` fits the whole picture within them, `cover` crops it to fill them, keeping the middle, and `fill` distorts it. Default: `contain`.',
    ),
  format: oneOf(formats)
    .optional()
    .describe(
      'The format; default that of the image, WebP for a GIF. Only the first frame of an animation is converted.',
    ),
});

const params = z.object({
  hash: z
    .string()
    .regex(hashPattern)
    .meta({ maxLength: 64, examples: ['0'.repeat(64)] })
    .describe('The SHA-256 of the image in hexadecimal, as in `url` of an image of a product.'),
});

const headers = {
  'Accept-Ranges': 'Range can request parts of the file.',
  'Content-Disposition': 'A file name.',
  'Content-Security-Policy': 'Prevents any content from running.',
  'Cross-Origin-Resource-Policy': 'Allows pages of other sites to show the image.',
};

/** @param renditions the quota of variants that a caller may have made; existing ones are free */
export function createMediaEndpoints(media: Media, renditions: Quota): Endpoint[] {
  return [
    createEndpoint({
      method: 'GET',
      path: '/media/{hash}',
      operationId: 'getMedia',
      summary: 'Read an image in a size and format',
      description:
        'Without parameters, returns the image as stored. Other sizes and formats are created on the first request, which is charged to a separate quota; existing ones are free. The address alone decides on the format: 406 if Accept does not allow it.',
      tag: 'Media',
      access: allow.public,
      exemptFromQuota: true,
      params,
      query,
      produces: keptTypes,
      responses: {
        200: { description: 'The image.', mediaType: 'image/webp', tagged: true, headers },
        206: {
          description: 'The part that Range requested.',
          mediaType: 'image/webp',
          headers: { ...headers, 'Content-Range': 'The range of bytes, and the size of the file.' },
        },
      },
      errors: ['RANGE_NOT_SATISFIABLE', 'RATE_LIMITED', 'INVALID_IMAGE', 'MEDIA_UNAVAILABLE', 'SERVICE_BUSY'],
      async handle({ params, query, address, charge, header }) {
        const { hash } = params;
        const type = await media.typeOf(hash);
        if (type === undefined) throw createImageNotFoundError(hash);
        const { w, h, fit, format } = query;
        if (w === undefined && h === undefined && format === undefined) {
          requireAcceptance(header('accept'), type);
          return reply(hash, type, requireFile(await media.original(hash), hash), '');
        }
        const request: VariantRequest = {
          w,
          h,
          fit: fit ?? 'contain',
          format: format ?? getUsualFormat(type),
        };
        const variantType = `image/${request.format}` as const;
        requireAcceptance(header('accept'), variantType);
        if (!(await media.hasVariant(hash, request))) {
          const all = `All ${renditions.limit} image variants allowed in this window have been made`;
          await charge(renditions, `ip:${address}`, all);
        }
        const file = requireFile(await refuseImageErrors('image', media.variant(hash, request)), hash);
        return reply(hash, variantType, file, toVariantName(request));
      },
    }),
  ];
}

const createImageNotFoundError = (hash: string) =>
  new HttpError('NOT_FOUND', { message: `There is no image ${hash}.` });

function requireFile(file: MediaFile | undefined, hash: string): MediaFile {
  if (file === undefined) throw createImageNotFoundError(hash);
  return file;
}

/** @param variant the name that identifies a variant; empty for the image itself */
function reply(hash: string, type: KeptType, { content }: MediaFile, variant: string): Reply {
  const extension = type.slice('image/'.length).replace('jpeg', 'jpg');
  return {
    status: 200,
    body: content,
    mediaType: type,
    cacheControl: forever,
    etag: variant === '' ? `"${hash}"` : `"${hash.slice(0, 32)}-${variant}"`,
    tagged: true,
    ranged: true,
    headers: {
      ...acceptRanges,
      Vary: 'Origin, Prefer',
      'Content-Disposition': `inline; filename="${hash.slice(0, 16)}.${extension}"`,
      'Content-Security-Policy': policy,
      'Cross-Origin-Resource-Policy': 'cross-origin',
    },
  };
}
