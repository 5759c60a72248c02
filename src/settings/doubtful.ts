/** Finds values of settings that are valid but probably mistakes. */
import { settings } from './index.ts';

/** @param environment usually process.env @returns a line for each */
export function findDoubtfulSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  const quoted = Object.keys(settings).filter(name => /^(["']).*\1$/s.test(environment[name]?.trim() ?? ''));
  return [
    ...quoted.map(
      name =>
        `the value of ${name} begins and ends with quotation marks, which count as a part of it; docker --env-file, for example, does not remove them`,
    ),
    ...findDoubtfulPort(environment.SMTP_URL ?? ''),
  ];
}

/** RFC 8314 section 3: encryption begins with the first byte at port 465, and on request at 587. */
function findDoubtfulPort(address: string): string[] {
  const [, scheme = '', port = ''] = /^\s*(smtps?):.*:(\d+)\/?\s*$/i.exec(address) ?? [];
  const isSecure = scheme.toLowerCase() === 'smtps';
  if (port === '465' && !isSecure)
    return [
      'SMTP_URL has the port 465 with smtp://: servers usually require smtps:// there, and never respond otherwise',
    ];
  if ((port === '587' || port === '25') && isSecure)
    return [
      `SMTP_URL has the port ${port} with smtps://: servers usually require smtp:// there, which also encrypts`,
    ];
  return [];
}
