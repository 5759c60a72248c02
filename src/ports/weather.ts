/** The weather port: a provider with the HTTP interface of Open-Meteo. */
import { z } from 'zod';
import { requireSpareFiles } from '../open-files.ts';
import { readLimitedText } from './response-text.ts';

export interface CityLocation {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
}

export interface Observation {
  /** In degrees Celsius. */
  readonly temperature: number;
  readonly conditions: string;
  /** Epoch milliseconds. */
  readonly observedAt: number;
}

/** Both functions reject when the provider cannot be reached in time or sends an invalid response. */
export interface WeatherProvider {
  readonly name: string;
  /** The location of the city with this name; undefined if there is none. */
  find(city: string): Promise<CityLocation | undefined>;
  observe(location: CityLocation): Promise<Observation>;
}

/** The longest wait for one request; a caller who needs both waits up to twice this. */
const timeoutMs = 3000;
/** Characters; those that count are far fewer. */
const maxResponseLength = 256 * 1024;

const geocoding = z.object({
  results: z
    .array(z.object({ name: z.string().min(1).max(200), latitude: z.number(), longitude: z.number() }))
    .optional(),
});

const forecast = z.object({
  current: z.object({
    // In GMT, to the minute, without a time zone.
    time: z
      .string()
      .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/)
      .transform(time => Date.parse(`${time}:00Z`))
      .pipe(z.int()),
    temperature_2m: z.number().min(-120).max(80),
    weather_code: z.int(),
  }),
});

/**
 * @param weatherUrl the address before `/v1/forecast`
 * @param geocodingUrl the address before `/v1/search`
 */
export function openMeteo(weatherUrl: string, geocodingUrl: string): WeatherProvider {
  return {
    name: 'open-meteo',
    async find(city) {
      const query = new URLSearchParams({ name: city, count: '1', language: 'en', format: 'json' });
      const { results } = geocoding.parse(await ask(`${geocodingUrl}/v1/search?${query}`));
      return results?.[0];
    },
    async observe({ latitude, longitude }) {
      const query = new URLSearchParams({
        latitude: String(latitude),
        longitude: String(longitude),
        current: 'temperature_2m,weather_code',
        timezone: 'GMT',
      });
      const { current } = forecast.parse(await ask(`${weatherUrl}/v1/forecast?${query}`));
      return {
        temperature: current.temperature_2m,
        conditions: describeConditions(current.weather_code),
        observedAt: current.time,
      };
    },
  };
}

async function ask(url: string): Promise<unknown> {
  requireSpareFiles();
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { signal, redirect: 'error', headers: { Accept: 'application/json' } });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the weather provider responded ${response.status}`);
  }
  return JSON.parse(await readLimitedText(response, maxResponseLength));
}

/** The weather codes of the WMO (table 4677), in the groups the provider uses. */
function describeConditions(code: number): string {
  if (code === 0) return 'clear';
  if (code <= 2) return 'partly cloudy';
  if (code === 3) return 'overcast';
  if (code === 45 || code === 48) return 'fog';
  if (code >= 51 && code <= 57) return 'drizzle';
  if ((code >= 61 && code <= 67) || (code >= 80 && code <= 82)) return 'rain';
  if ((code >= 71 && code <= 77) || code === 85 || code === 86) return 'snow';
  if (code >= 95 && code <= 99) return 'thunderstorm';
  return 'unknown';
}
