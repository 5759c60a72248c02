/** Parses MEDIA_URL, which says where files are stored. */
import { fileURLToPath } from 'node:url';

/** The options of Bun's client, which takes missing ones from the environment, as the tools of AWS do. */
export interface S3Location {
  readonly kind: 's3';
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
  readonly endpoint?: string;
  readonly region?: string;
  /** Whether the bucket is part of the host's name, as in `bucket.s3.example`. */
  readonly virtualHostedStyle?: boolean;
}

interface FolderLocation {
  readonly kind: 'folder';
  readonly path: string;
}

export type StoreLocation = S3Location | FolderLocation;

const parameters = ['endpoint', 'region', 'virtualHostedStyle'];

/** @throws Error whose message gives the rule, without any part of the URL, which may contain a secret */
export function parseStoreLocation(text: string): StoreLocation {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'file:' && url.host === '' && url.search === '') {
    // Throws if the path cannot be decoded; fileURLToPath would leave it as it is.
    decode(url.pathname);
    return { kind: 'folder', path: fileURLToPath(url) };
  }
  // A / in the key ends what precedes the bucket: the @ is then after it.
  if (/^s3:\/\/[^@:/?#]*:[^@/?#]*[/?#].*@/i.test(text))
    throw new Error('needs % in the key written as %25, @ as %40, / as %2F, ? as %3F, # as %23');
  if (url?.protocol !== 's3:' || url.hostname === '' || url.port !== '' || url.hash !== '')
    throw new Error('must be s3://bucket/prefix?endpoint=https://…, or file:///folder');
  for (const name of url.searchParams.keys())
    if (!parameters.includes(name)) throw new Error(`accepts only the parameters ${parameters.join(', ')}`);
  return {
    ...parseCredentials(url),
    ...parseServer(url),
    kind: 's3',
    bucket: url.hostname,
    prefix: parsePrefix(url),
  };
}

function parseCredentials({ username, password }: URL): Pick<S3Location, 'accessKeyId' | 'secretAccessKey'> {
  if (username === '' && password === '') return {};
  if (username === '' || password === '') throw new Error('needs both parts of s3://key:secret@bucket');
  return { accessKeyId: decode(username), secretAccessKey: decode(password) };
}

/** @throws Error for a % that is not part of an escape such as %25 */
function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new Error('has a path or key that cannot be decoded: write % as %25');
  }
}

function parseServer({ searchParams }: URL): Pick<S3Location, 'endpoint' | 'region' | 'virtualHostedStyle'> {
  const endpoint = searchParams.get('endpoint');
  const region = searchParams.get('region');
  const style = searchParams.get('virtualHostedStyle');
  if (endpoint !== null && !(URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)))
    throw new Error('has an endpoint that is not the address of a server (https://…)');
  if (style !== null && style !== 'true' && style !== 'false')
    throw new Error('has a virtualHostedStyle that is neither true nor false');
  return {
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === null ? {} : { region }),
    ...(style === null ? {} : { virtualHostedStyle: style === 'true' }),
  };
}

/** @throws Error for what the client writes in another form than it lists: such files would seem to be missing */
function parsePrefix({ pathname }: URL): string {
  const path = decode(pathname).replace(/^\/+/, '');
  if (/[\\\p{Cc}]/u.test(path) || path.split('/').some(part => part === '.' || part === '..'))
    throw new Error('has a prefix with a backslash, a control character, or a part that is . or ..');
  return path === '' || path.endsWith('/') ? path : `${path}/`;
}
