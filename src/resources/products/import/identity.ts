/**
 * The id and the creation time that an export gives each product. Together they identify a product without any key of
 * its own: another catalog may have the same id, but practically never with the same time.
 */
import { maxId } from '../../../storage/database.ts';

export interface Identity {
  readonly id: number;
  /** As its representation shows it. */
  readonly createdAt: string;
}

/** @returns undefined unless both members are as a catalog exports them: other files may have columns of these names */
export function readExportIdentity({
  id,
  createdAt,
}: Readonly<Record<string, unknown>>): Identity | undefined {
  if (id === undefined || typeof createdAt !== 'string') return undefined;
  const number = typeof id === 'string' && /^[1-9]\d{0,9}$/.test(id) ? Number(id) : id;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 1 || number > maxId)
    return undefined;
  const moment = Date.parse(createdAt);
  if (Number.isNaN(moment) || new Date(moment).toISOString() !== createdAt) return undefined;
  return { id: number, createdAt };
}

/** The key of an identity; no sku contains U+0000, so it differs from every sku and the keys made of these. */
export const toIdentityKey = ({ id, createdAt }: Identity): string => `\0\0\0${id} ${createdAt}`;
