/** Weather over HTTP, for programs with an API key. */
import { allow } from '../../http/access.ts';
import { createEndpoint, type Endpoint } from '../../http/endpoint.ts';
import { HttpError } from '../../http/errors.ts';
import { replyOk } from '../../http/response/reply.ts';
import type { Stores } from '../stores.ts';
import * as schema from './schema.ts';

export function createWeatherEndpoints({ weather }: Stores): Endpoint[] {
  return [
    createEndpoint({
      method: 'GET',
      path: '/data/weather',
      operationId: 'getWeather',
      summary: 'Read the weather in a city',
      description:
        'If the provider cannot be reached, returns the last observation, marked `stale`, or the usual weather of the season in a large city, with the source `bundled`. A city of which it then knows neither is 503, or 404 if only the provider could know it.',
      tag: 'Data',
      access: allow.keys('data:read'),
      query: schema.weatherQuery,
      responses: { 200: { description: 'The weather.', schema: schema.weather } },
      errors: ['NOT_FOUND', 'WEATHER_UNAVAILABLE'],
      async handle({ query: { city } }) {
        const found = await weather.of(city);
        if (found === 'unknown')
          throw new HttpError('NOT_FOUND', { message: `No city is known by the name "${city}".` });
        if (found === 'unresolved')
          throw new HttpError('NOT_FOUND', {
            message: `"${city}" is not in the built-in list of cities, and the weather provider, which knows more, cannot be reached. Retry later.`,
          });
        if (found === 'unavailable')
          throw new HttpError('WEATHER_UNAVAILABLE', { headers: { 'Retry-After': '30' } });
        return replyOk(found);
      },
    }),
  ];
}
