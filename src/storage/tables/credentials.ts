/** The tables of sessions, failed attempts and tokens sent by mail: see ../tables.ts. */

export interface CredentialTables {
  sessions: {
    id: string;
    user_id: number;
    token_hash: string;
    created_at: number;
    last_used_at: number;
    expires_at: number;
  };

  /** Users whose sessions were all ended recently, including deleted users. */
  ended_sessions: {
    user_id: number;
    /** The first generation of sessions that has not ended. */
    generation: number;
    ended_at: number;
  };

  /** Tokens sent by mail, each kept as a hash and used once. */
  user_tokens: {
    token_hash: string;
    user_id: number;
    purpose: 'password' | 'verification';
    created_at: number;
    expires_at: number;
  };

  /** Tokens sent by mail, each for one address of one user: see resources/users/addresses.ts. */
  address_tokens: {
    token_hash: string;
    user_id: number;
    purpose: 'confirmation' | 'restoration';
    /** The address that the token was sent to. */
    email: string;
    /** The user's version when the token was created: shows which of two tokens is older. */
    user_version: number;
    created_at: number;
    expires_at: number;
  };

  /** Failed attempts to guess a secret, under a hash of what they count against: see http/quota/delays.ts. */
  failed_attempts: {
    hash: string;
    failures: number;
    failed_at: number;
    failed_before: number;
  };
}
