/** Converts the reason why an image is refused to an HTTP error for its sender. */
import { buildErrorDetail, type ErrorCode, HttpError } from '../http/errors.ts';
import { ImageError, type RefusalKind } from './inspect/image.ts';

const codes: Readonly<Record<RefusalKind, ErrorCode>> = {
  unsupported: 'UNSUPPORTED_IMAGE',
  invalid: 'INVALID_IMAGE',
  large: 'IMAGE_TOO_LARGE',
};

/**
 * @param field the name of the image in the error
 * @throws HttpError 413, 415, 422 in place of an ImageError
 */
export async function refuseImageErrors<T>(field: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    const { kind, message } = error;
    throw new HttpError(codes[kind], {
      message: `${field}: ${message}`,
      details: [buildErrorDetail([field], kind, message)],
      cause: error,
    });
  }
}
