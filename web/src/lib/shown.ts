// Text of agents and of files as it is, and not as it wants to be read.

/** Marks that turn the order of what is read around: a line could look like another one. The terminal UI shows none of them either. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

export const shown = (text: string): string => text.replace(TURNING, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`);
