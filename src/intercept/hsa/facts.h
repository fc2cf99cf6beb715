/* Of model/hsa_facts.h, what submits packets says itself. Internal to this folder. */
#ifndef INTERCEPT_HSA_FACTS_H
#define INTERCEPT_HSA_FACTS_H

#include "model/hsa_facts.h"

bool intercept_submission(struct hsa_submission *submission);

#endif
