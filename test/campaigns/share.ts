/** How much campaigns draw: CAMPAIGN_SHARE=0.25 is the short run of `.ci/run`. */
const share = Number(process.env.CAMPAIGN_SHARE ?? 1);

/** @param full what a whole campaign draws */
export const countDraws = (full: number): number => Math.max(1, Math.round(full * share));
