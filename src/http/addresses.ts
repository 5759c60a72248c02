/** Addresses for links and Location: absolute, and free of credentials. */
import type { RequestUrl } from './endpoint.ts';

/** Where the version that is being asked begins: `https://shop.example/v1`. */
export function versionRoot({ base, path }: RequestUrl): string {
  const end = path.indexOf('/', 1);
  return `${base}${end === -1 ? path : path.slice(0, end)}`;
}

/** The address that was asked for, as a `self` link shows it: an API key in it is left out. */
export function selfAddress({ base, path, search }: RequestUrl): string {
  const kept = search.split('&').filter(part => part !== '' && !/^api_key(=|$)/.test(part));
  return `${base}${path}${kept.length === 0 ? '' : `?${kept.join('&')}`}`;
}
