/**
 * The payment port. Without a provider a payment is recorded by hand and counts at once. With a provider it is opened
 * here, confirmed in the customer's browser, and reported back by a signed webhook.
 */

/** The amount due for an order, with the data that identifies a repeated request to the provider. */
export interface Due {
  readonly orderId: number;
  /** In the currency's minor units. */
  readonly total: number;
  readonly currency: string;
  /** When the order was placed, and when the payment is requested: epoch milliseconds. */
  readonly createdAt: number;
  readonly at: number;
}

/** A payment that awaits the customer, or has been made already. */
export interface OpenPayment {
  /** The provider's identifier. */
  readonly reference: string;
  /** Lets anyone who holds it confirm the payment: for the customer only, and never stored. */
  readonly clientSecret: string | null;
  readonly succeeded: boolean;
}

/** What has become of a payment that was to be cancelled. */
export type Cancellation = 'cancelled' | 'made' | 'in progress';

export interface PaymentProvider {
  readonly name: 'stripe';
  /**
   * Opens the payment of an order, or finds the one that is already open.
   * @param known the reference of the payment opened before
   * @throws PaymentError
   */
  open(due: Due, known: string | null): Promise<OpenPayment>;
  /** Cancels an open payment, so that it can no longer be made, unless it is too late. */
  cancel(reference: string): Promise<Cancellation>;
  /** Refunds a payment; repeated calls refund it once. */
  refund(reference: string): Promise<void>;
}

/** A completed payment, as the provider reports it. */
export interface PaymentMade {
  readonly reference: string;
  /** In the provider's own units: compare it with `amountOf`. */
  readonly amount: number;
  /** In lower case. */
  readonly currency: string;
}

export interface PaymentReports {
  /**
   * @param body the bytes that were signed
   * @returns undefined for reports of anything else
   * @throws PaymentError `signature`
   */
  read(body: Uint8Array, signature: string | null): Promise<PaymentMade | undefined>;
  /** An amount as the provider counts it. */
  amountOf(due: Pick<Due, 'total' | 'currency'>): number | undefined;
}

/** How payments are taken: by hand without a provider, and without reports if no webhook secret is set. */
export interface Payments {
  readonly provider: PaymentProvider | undefined;
  readonly reports: PaymentReports | undefined;
}

/** `impossible`: not this amount in this currency; `unavailable`: a retry may help; the last two are of reports. */
export type PaymentErrorKind = 'declined' | 'impossible' | 'unavailable' | 'signature' | 'malformed';

export class PaymentError extends Error {
  readonly kind: PaymentErrorKind;

  constructor(kind: PaymentErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'PaymentError';
    this.kind = kind;
  }
}
