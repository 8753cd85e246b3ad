"""A whole call's actions: in call order, none twice, nothing from small talk, English only."""

from pipeline.domain.documents import DocumentFields, Transcript, Turn
from pipeline.settings import Profile
from pipeline.summarizers.extractive.summarizer import Extractive
from pipeline.summarizers.port import SummaryRequest
from pipeline.summarizers.unrecorded import Unrecorded


def summarize(*said, language=None):
    transcript = Transcript(turns=tuple(Turn(speaker=speaker, text=text) for speaker, text in said))
    fields = DocumentFields(document_id="call-1", account_id="acme")
    request = SummaryRequest(fields=fields, transcript=transcript, language=language)
    return Extractive().summarize(request, Unrecorded(Profile(), 60.0))


def told(*said):
    return [(action.kind, action.text) for action in summarize(*said).actions]


def test_a_sales_call_gives_its_actions_in_call_order():
    actions = summarize(
        ("Dana", "Hi Kim, how was the trip? I love the lakes up there."),
        ("Kim", "Lovely, thanks. So, honestly, that's too expensive for us. We have a budget of ten."),
        ("Dana", "Understood. I'll send a revised quote by Friday."),
        ("Kim", "Good. Then it has to go through legal. I'll check with our finance team."),
    ).actions
    assert [(action.kind, action.owner, action.due_text, action.proposed_stage) for action in actions] == [
        ("record_objection", None, None, None),
        ("follow_up", "Dana", "by Friday", None),
        ("follow_up", "Kim", None, None),
        ("update_stage", None, None, "Legal Review"),
    ]
    assert [action.quotes[0].turn for action in actions] == [1, 2, 3, 3]


def test_small_talk_gives_no_actions():
    assert (
        told(
            ("Dana", "Hi! How was your weekend?"),
            ("Kim", "Great, we went to the mountains. The weather was too good to be true."),
            ("Dana", "Nice. I'll be there myself next month. Have a good one, see you soon!"),
            ("Kim", "Bye, we'll talk soon."),
        )
        == []
    )


def test_an_accepted_request_is_the_follow_up_of_the_one_who_accepts():
    asked = ("Kim", "Can you please send me the security questionnaire by Tuesday?")
    (action,) = summarize(asked, ("Dana", "Sure, no problem.")).actions
    assert (action.owner, action.due_text) == ("Dana", "by Tuesday")
    assert action.text == "Dana will send them the security questionnaire by Tuesday."
    assert [quote.turn for quote in action.quotes] == [0, 1]


def test_a_request_without_a_clear_yes_is_no_follow_up():
    asked = ("Kim", "Can you send me the security questionnaire by Tuesday?")
    for answer in ("Let me see.", "Sure, but not by Tuesday.", "Who needs it?", "Hmm.", "No, sorry."):
        assert told(asked, ("Dana", answer)) == []
    assert told(asked, ("Kim", "Sure.")) == []


def test_a_request_answered_with_a_promise_is_one_follow_up():
    asked = ("Kim", "Could you send me the deck?")
    assert told(asked, ("Dana", "Sure, I'll send the deck today.")) == [("follow_up", "Dana will send the deck today.")]


def test_the_same_promise_twice_is_one_action_with_both_quotes():
    (action,) = summarize(
        ("Dana", "I'll send the quote by Friday."),
        ("Kim", "Thanks, that helps us a lot."),
        ("Dana", "So, I'll send the quote by Friday."),
    ).actions
    assert [quote.turn for quote in action.quotes] == [0, 2]


def test_a_call_has_one_stage_the_last_that_was_signalled():
    actions = summarize(
        ("Kim", "We're ready to sign, so send over the contract."),
        ("Dana", "That is the best news that I have had this week."),
        ("Kim", "But it has to go through legal first."),
    ).actions
    assert [action.proposed_stage for action in actions if action.kind == "update_stage"] == ["Legal Review"]


def test_nobody_owns_what_was_promised_under_a_generic_or_a_single_label():
    promise = "I'll send the quote to you by Friday."
    generic = summarize(("Speaker 1", promise), ("Speaker 2", "Thank you, that is what we need."))
    collapsed = summarize(("Dana", promise), ("Dana", "Thank you, that is what we need."))
    nameless = summarize((None, promise), (None, "Thank you, that is what we need."))
    for summary in (generic, collapsed, nameless):
        assert [(action.owner, action.text) for action in summary.actions] == [
            (None, "Send the quote to them by Friday.")
        ]


def test_english_rules_stay_silent_in_other_languages():
    german = (("Anna", "Ich schicke Ihnen das Angebot bis Freitag, I'll send it."), ("Max", "Das ist uns zu teuer."))
    chinese = (("顾问", "我明天把报价发给您。"), ("客户", "太贵了。"))
    assert told(*german) == []
    assert told(*chinese) == []


def test_a_summary_is_never_translated_and_says_so():
    english = ("Dana", "I'll send you the quote by Friday.")
    assert [warning.code for warning in summarize(english, language="de").warnings] == ["not_translated"]
    assert summarize(english, language="en-GB").warnings == ()
    assert summarize(english).warnings == ()
