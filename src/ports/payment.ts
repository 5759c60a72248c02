/**
 * Payment as it leaves the service. Without a provider a payment is recorded by hand, and counts at once; with
 * one it is opened here, confirmed in the customer's browser, and reported back by a signed webhook.
 */

/** What an order costs, and what makes a repeated request the same request to the provider. */
export interface Due {
  readonly orderId: number;
  /** In the currency's minor units. */
  readonly total: number;
  readonly currency: string;
  /** When it was ordered, and when it is to be paid: epoch milliseconds. */
  readonly createdAt: number;
  readonly at: number;
}

/** A payment that waits for the customer, or has been made already. */
export interface OpenPayment {
  /** The provider's own name for it. */
  readonly reference: string;
  /** Lets anyone who holds it confirm the payment: for the customer only, never to be kept. */
  readonly clientSecret: string | null;
  readonly succeeded: boolean;
}

export interface PaymentProvider {
  readonly name: 'stripe';
  /**
   * Opens the payment of an order, or finds the one that is open already.
   * @param known the reference of the one opened before
   * @throws PaymentError
   */
  open(due: Due, known: string | null): Promise<OpenPayment>;
  /**
   * Makes an open payment one that cannot be made any more.
   * @returns false when it is too late for that: it has been made, or is being made
   */
  cancel(reference: string): Promise<boolean>;
  /** Gives back what was paid, once however often it is called. */
  refund(reference: string): Promise<void>;
}

/** A payment that has been made, as the provider reports it. */
export interface PaymentMade {
  readonly reference: string;
  /** In the provider's own units: compare it with `toAmount`. */
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

/** How payments are taken; without a provider by hand, without a secret nothing is reported. */
export interface Payments {
  readonly provider: PaymentProvider | undefined;
  readonly reports: PaymentReports | undefined;
}

/** `impossible`: not this amount in this currency; `unavailable`: perhaps later; the last two are a report's. */
export type PaymentErrorKind = 'declined' | 'impossible' | 'unavailable' | 'signature' | 'malformed';

export class PaymentError extends Error {
  readonly kind: PaymentErrorKind;

  constructor(kind: PaymentErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'PaymentError';
    this.kind = kind;
  }
}
